/**
 * Every migration by name, in order. They apply to the first schema of the search path. A released migration is never
 * changed. Columns that a later migration drops from GoTrue's tables are removed from the earlier ones too, so that
 * they are not created at all.
 */
import type { Migration } from 'kysely/migration'

import * as users from './0001-users.ts'
import * as oauthServer from './0002-oauth-server.ts'
import * as sessions from './0003-sessions.ts'
import * as tokens from './0004-tokens.ts'
import * as factors from './0005-factors.ts'
import * as sso from './0006-sso.ts'
import * as records from './0007-records.ts'
import * as postern from './0008-postern.ts'
import * as functionsAndRoles from './0009-functions-and-roles.ts'
import * as userSearch from './0010-user-search.ts'
import * as externalSignIns from './0011-external-sign-ins.ts'
import * as imports from './0012-imports.ts'
import * as pendingSignUps from './0013-pending-sign-ups.ts'
import * as guesses from './0014-guesses.ts'
import * as flowsAndImpersonations from './0015-flows-and-impersonations.ts'
import * as factorDetails from './0016-factors.ts'
import * as passkeys from './0017-passkeys.ts'
import * as encryptionProbe from './0018-encryption-probe.ts'
import * as events from './0020-events.ts'
import * as webhooks from './0021-webhooks.ts'
import * as mailDelivery from './0022-mail-delivery.ts'
import * as ownColumns from './0024-own-columns.ts'
import * as takeover from './0025-takeover.ts'
import * as gotrueLevel from './0026-gotrue-level.ts'
import * as signInDevices from './0027-sign-in-devices.ts'
import * as recoveryCodeKeys from './0030-recovery-code-keys.ts'
import * as sendQuotaLimits from './0031-send-quota-limits.ts'
import * as schemaFloor from './0032-schema-floor.ts'
import * as cleanUpRuns from './0037-clean-up-runs.ts'
import * as gotrue2197 from './0038-gotrue-2-197.ts'
import * as recoveryCodeFactors from './0039-recovery-code-factors.ts'
import * as sessionProofs from './0043-session-proofs.ts'
import * as dailyAttempts from './0044-daily-attempts.ts'
import * as sendQuotas from './0046-send-quotas.ts'
import * as autoconfirmedAddresses from './0047-autoconfirmed-addresses.ts'
import * as consumedCodes from './0048-consumed-codes.ts'
import * as apiTokens from './0050-api-tokens.ts'
import * as oauthServerDetails from './0060-oauth-server-details.ts'
import * as eventNames from './0062-event-names.ts'
import * as userinfoClaims from './0065-userinfo-claims.ts'
import * as replays from './0070-replays.ts'
import * as samlLogins from './0072-saml-logins.ts'
import * as admins from './0080-admins.ts'
import * as usageCounts from './0081-usage-counts.ts'
import * as settings from './0082-settings.ts'
import * as organizations from './0090-organizations.ts'
import * as organizationFunctions from './0091-organization-functions.ts'
import * as organizationRecords from './0092-organization-records.ts'
import * as usernames from './0095-usernames.ts'
import * as scim from './0096-scim.ts'
import * as roomForUpdates from './0097-room-for-updates.ts'
import * as deactivations from './0098-deactivations.ts'
import * as providerIssuers from './0099-provider-issuers.ts'

export const migrations: Record<string, Migration> = {
  '0001-users': users,
  '0002-oauth-server': oauthServer,
  '0003-sessions': sessions,
  '0004-tokens': tokens,
  '0005-factors': factors,
  '0006-sso': sso,
  '0007-records': records,
  '0008-postern': postern,
  '0009-functions-and-roles': functionsAndRoles,
  '0010-user-search': userSearch,
  '0011-external-sign-ins': externalSignIns,
  '0012-imports': imports,
  '0013-pending-sign-ups': pendingSignUps,
  '0014-guesses': guesses,
  '0015-flows-and-impersonations': flowsAndImpersonations,
  '0016-factors': factorDetails,
  '0017-passkeys': passkeys,
  '0018-encryption-probe': encryptionProbe,
  '0020-events': events,
  '0021-webhooks': webhooks,
  '0022-mail-delivery': mailDelivery,
  '0024-own-columns': ownColumns,
  '0025-takeover': takeover,
  '0026-gotrue-level': gotrueLevel,
  '0027-sign-in-devices': signInDevices,
  '0030-recovery-code-keys': recoveryCodeKeys,
  '0031-send-quota-limits': sendQuotaLimits,
  '0032-schema-floor': schemaFloor,
  '0037-clean-up-runs': cleanUpRuns,
  '0038-gotrue-2-197': gotrue2197,
  '0039-recovery-code-factors': recoveryCodeFactors,
  '0043-session-proofs': sessionProofs,
  '0044-daily-attempts': dailyAttempts,
  '0046-send-quotas': sendQuotas,
  '0047-autoconfirmed-addresses': autoconfirmedAddresses,
  '0048-consumed-codes': consumedCodes,
  '0050-api-tokens': apiTokens,
  '0060-oauth-server-details': oauthServerDetails,
  '0062-event-names': eventNames,
  '0065-userinfo-claims': userinfoClaims,
  '0070-replays': replays,
  '0072-saml-logins': samlLogins,
  '0080-admins': admins,
  '0081-usage-counts': usageCounts,
  '0082-settings': settings,
  '0090-organizations': organizations,
  '0091-organization-functions': organizationFunctions,
  '0092-organization-records': organizationRecords,
  '0095-usernames': usernames,
  '0096-scim': scim,
  '0097-room-for-updates': roomForUpdates,
  '0098-deactivations': deactivations,
  '0099-provider-issuers': providerIssuers,
}
