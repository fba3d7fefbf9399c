"""pytester forgets the modules that an inner run imported; csandbox's caches must stay."""

import csandbox_pytest.confined
import csandbox_pytest.submissions

USED = (csandbox_pytest.confined, csandbox_pytest.submissions)
