"""Put a model into another container, or another Keras's form (`--to`, `--keras 3`, `--like`).

Start at `choose_target_format`; `container_conversions` has a row for each pair of containers. The conversion to
Keras 3 itself is in `core/keras3`.
"""
