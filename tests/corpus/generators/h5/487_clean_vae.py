# stack: k231 keras: keras
from second import *
import zoo

same(zoo.vae('vae_clean'), data((8,)), kind='clean', how='VAE with add_loss and a sampling Lambda', reason='no wrapper', run=predict)
