"""Facts on Keras itself: its layers' weights, their order, shapes, and the spelling of configs."""
