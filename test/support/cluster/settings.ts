/** Settings of every server of a cluster: no limits, and a lost response may be requested again. */
export const clusterSettings = {
  // A busy machine must not fail a test.
  AUTH_API_MAX_REQUEST_DURATION: '30s',
  AUTH_MAILER_AUTOCONFIRM: 'true',
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000',
  AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
  AUTH_RATE_LIMIT_VERIFY: '1000000',
  AUTH_RATE_LIMIT_OTP: '1000000',
  AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true',
}
