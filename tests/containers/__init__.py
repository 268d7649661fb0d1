"""Containers, one by one."""
