"""Which stored weight belongs to which layer: one module per way of storing them."""
