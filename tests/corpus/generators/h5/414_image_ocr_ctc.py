# stack: k224 keras: keras
from second import *
import zoo

m = zoo.ctc()
x = zoo.ctc_data()
wrap(official(m, 2), m, x, towers=2, merge=['ctc'], optimizer='nesterov', comp={'loss': {'ctc': lambda y_true, y_pred: y_pred}}, y=np.zeros((12, 1)),
     how='image_ocr: four inputs (two int64), the CTC loss is a Lambda inside the template, compiled with a lambda that hands it on; multi_gpu_model(2)',
     reason='eight slices, one template, one merge: whole; the ctc Lambda of the template has four inputs and is no merge')
