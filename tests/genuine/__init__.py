"""Files written by the original software, against what the same software wrote for the template."""
