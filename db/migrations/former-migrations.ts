/**
 * Names of the migrations that the baselines replaced (docs/decisions/2026-11-30-baselines.md), as databases of commits
 * before them recorded them.
 */

/** Those of commit 397d0154, the earliest whose databases can be upgraded. */
export const releasedMigrations: readonly string[] = `
  0001-users 0002-oauth-server 0003-sessions 0004-tokens 0005-factors 0006-sso 0007-records
  0008-postern 0009-functions-and-roles 0010-user-search 0011-external-sign-ins 0012-imports
  0013-pending-sign-ups 0014-guesses 0015-flows-and-impersonations 0016-factors 0017-passkeys
  0018-encryption-probe 0020-events 0021-webhooks 0022-mail-delivery 0024-own-columns 0025-takeover
  0026-gotrue-level 0027-sign-in-devices 0030-recovery-code-keys 0031-send-quota-limits
  0032-schema-floor 0037-clean-up-runs 0038-gotrue-2-197 0039-recovery-code-factors
  0043-session-proofs 0044-daily-attempts 0046-send-quotas 0047-autoconfirmed-addresses
  0048-consumed-codes 0050-api-tokens 0060-oauth-server-details 0062-event-names
  0065-userinfo-claims 0070-replays 0072-saml-logins 0080-admins 0081-usage-counts 0082-settings
  0090-organizations 0091-organization-functions 0092-organization-records 0095-usernames 0096-scim
  0097-room-for-updates 0098-deactivations 0099-provider-issuers
`
  .trim()
  .split(/\s+/)

/** Those of later commits: a database may have any of them. */
const laterMigrations: readonly string[] = `
  0100-saml-options 0105-assumed-addresses 0106-repeated-registrations 0110-row-level-security
  0111-external-ids 0112-memberships-of-outsiders 0113-deactivated-admins 0115-provider-options
  0116-token-purposes 0120-page-submissions 0125-unverified-usernames
  0135-organization-audit-actors 0140-admin-link-creators 0145-tenant-providers
  0150-prepared-accounts 0151-makers-of-links 0152-invitations-of-admins
`
  .trim()
  .split(/\s+/)

export const formerMigrations: ReadonlySet<string> = new Set([
  ...releasedMigrations,
  ...laterMigrations,
])
