# stack: k216 keras: keras
from second import *


class ParallelModel(Model):
    """Inputs split in advance, the pieces handed over by closures; save is not redirected."""

    def __init__(self, net, gpu_count):
        self.inner_model, self.gpu_count = net, gpu_count
        super(ParallelModel, self).__init__(inputs=net.inputs, outputs=self.build_towers(net, gpu_count), name='mask_rcnn_parallel')

    @staticmethod
    def build_towers(net, count):
        pieces = {n: tf.split(t, count) for n, t in zip(net.input_names, net.inputs)}
        gathered = [[] for _ in net.output_names]
        for i in range(count):
            ins = [Lambda(lambda s, n=n, i=i: pieces[n][i], output_shape=lambda s: (None,) + s[1:])(t) for n, t in zip(net.input_names, net.inputs)]
            for k, o in enumerate(net(ins)):
                gathered[k].append(o)
        merged = []
        for name, outs in zip(net.output_names, gathered):
            if K.int_shape(outs[0]) == ():
                merged.append(Lambda(lambda o: tf.add_n(o) / len(outs), name=name)(outs))
            else:
                merged.append(L.Concatenate(axis=0, name=name)(outs))
        return merged


image, boxes = Input((8, 8, 3), name='input_image'), Input((4,), name='input_gt_boxes')
h = BatchNormalization(name='bn_conv1')(L.Conv2D(4, (3, 3), activation='relu', name='conv1')(image))
f = Flatten(name='fpn')(L.MaxPooling2D((2, 2))(h))
logits = Dense(2, activation='softmax', name='rpn_class')(f)
bbox = Dense(4, name='rpn_bbox')(f)
loss = Lambda(lambda t: K.mean(K.square(t[0] - t[1])) + K.mean(K.square(t[2])), name='rpn_bbox_loss')([boxes, bbox, logits])
m = Model([image, boxes], [logits, bbox, loss], name='mask_rcnn')
par = ParallelModel(m, 2)
x = data((8, 8, 3), (4,))
shake(par)
par.add_loss(K.mean(par.get_layer('rpn_bbox_loss').output))
par.compile(optimizer=opt('nesterov'), loss=[None] * 3)
par._make_train_function()
for _ in range(2):
    par.train_function(x + [1.])
run = lambda mod, v: [np.asarray(t) for t in K.function(mod.inputs + [K.learning_phase()], mod.outputs)(list(v) + [0])]
par.save_weights(path('weights.h5'))
m.save_weights(path('base_weights.h5'))
p, b = run(par, x), run(m, x)
worst = max(float(np.max(np.abs(u - v))) for u, v in zip(p, b))
assert worst < 1e-4, worst
finite(par)
save_io(x, parallel=[np.atleast_1d(v) for v in p], base=[np.atleast_1d(v) for v in b])
write_case(collections.OrderedDict([
    ('how', 'Mask R-CNN\'s kind of ParallelModel without the redirected save: tf.split outside the layers, Lambdas close over the pieces (so no JSON can '
            'be written), merges named after the outputs, a scalar loss averaged by a Lambda; two inputs, three outputs; save_weights, no JSON'),
    ('kind', 'wrapper'), ('towers', 2), ('scope', 'whole'), ('wrappers', 1), ('wrapper', par.name),
    ('merge', ['rpn_class', 'rpn_bbox', 'rpn_bbox_loss']), ('template', 'mask_rcnn'), ('base', 'mask_rcnn'), ('expected', 'parallel'),
    ('code_free', False), ('optimizer', 'SGD'), ('largest_difference', worst), ('architecture', None),
    ('reason', '2 inputs + 4 slices + 1 template + 3 merges: whole'),
    ('doubts', 'by the names alone; the layers of the template without weights cannot be known'),
    ('base_is', 'the template saved directly; its layer_names also hold layers without weights')]))
print('wrapper   %s worst %.1e' % (os.environ['STRANGER_CASE'], worst))
