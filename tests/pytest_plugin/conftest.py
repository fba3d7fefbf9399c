"""pytester forgets what an inner run imported; csandbox's caches must not go with it."""

import csandbox_pytest.confined
import csandbox_pytest.submissions

USED = (csandbox_pytest.confined, csandbox_pytest.submissions)
