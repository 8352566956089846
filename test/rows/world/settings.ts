/** Every feature switched on. */
import { customOnLoopback } from '../../support/custom-providers/requests.ts'
import { everyFactor } from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { samlOn } from '../../support/saml/server.ts'

/** The number whose code is always `testCode`. */
export const testNumber = '15550009999'
export const testCode = '123456'

export const everything = {
  ...samlOn,
  ...everyFactor,
  ...passkeysOn,
  ...customOnLoopback.env,
  AUTH_SMS_TEST_OTP: `${testNumber}:${testCode}`,
  AUTH_ACCOUNT_PAGE_ENABLED: 'true',
  AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
  AUTH_CONSOLE_ENABLED: 'true',
  AUTH_CUSTOM_OAUTH_ENABLED: 'true',
  AUTH_EVENTS_ENABLED: 'true',
  AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_MFA_RECOVERY_CODES_COUNT: '4',
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
  AUTH_ORGANIZATIONS_ENABLED: 'true',
  AUTH_ORGANIZATIONS_USER_CREATION_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_USERNAMES_ENABLED: 'true',
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
}
