# stack: k231 keras: keras
from second import *
import zoo

m = zoo.unet()
same(m, data((8, 8, 1)), kind='clean', loss='binary_crossentropy', y=np.zeros((12, 8, 8, 1)), how='U-Net', reason='no wrapper')
