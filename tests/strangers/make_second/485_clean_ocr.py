# stack: k231 keras: keras
from second import *
import zoo

same(zoo.ctc(), zoo.ctc_data(), kind='clean', comp={'loss': {'ctc': lambda y_true, y_pred: y_pred}}, y=np.zeros((12, 1)), run=predict,
     how='image_ocr with the CTC Lambda', reason='no wrapper')
