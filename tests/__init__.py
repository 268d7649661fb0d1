"""The suite mirrors the package; attacks and genuine files have folders of their own."""
