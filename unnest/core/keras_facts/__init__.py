"""What is known of Keras itself: its layers' weights, their order, shapes, and how configs are spelled."""
