"""Translate a Lambda's stored byte code, read as data, into operations of Keras 3, or keep the Lambda.

Start at `lambda_layer_rule`, which asks `translate_lambda`.
"""
