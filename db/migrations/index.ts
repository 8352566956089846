/**
 * Every migration by name, in order. They work on the schema that comes first on the search path,
 * and none is changed once it has been released: what is missing later goes into a new one. What a later one takes out
 * of GoTrue's tables is taken out of the earlier ones, too, so that nobody's tables get it and lose it again.
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
}
