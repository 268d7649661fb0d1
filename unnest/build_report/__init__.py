"""Fill a report's fields from a source and its plan: verdict, findings, pictures, what `--keras 3` would do.

Start at `fields_from_plan`. A report and its rendering are in `report`.
"""
