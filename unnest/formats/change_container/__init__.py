"""Put a model into another container, or another Keras's form (`--to`, `--keras 3`, `--like`).

Start at `container_conversions`, which has a row for each pair of containers. The conversion to Keras 3 itself is in
`core/keras3`.
"""
