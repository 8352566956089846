/**
 * Every migration by name, in order. They apply to the first schema of the search path. Those below 0216 are one baseline
 * for each area: they create what is missing in an empty database, in one that GoTrue created, and in one of commit
 * 397d0154 (docs/decisions/2026-11-30-baselines.md). A released migration is never changed.
 */
import type { Migration } from 'kysely/migration'

import * as users from './0200-users.ts'
import * as oauthServer from './0201-oauth-server.ts'
import * as sessions from './0202-sessions.ts'
import * as tokens from './0203-tokens.ts'
import * as factors from './0204-factors.ts'
import * as sso from './0205-sso.ts'
import * as organizations from './0206-organizations.ts'
import * as scim from './0207-scim.ts'
import * as admins from './0208-admins.ts'
import * as limits from './0209-limits.ts'
import * as messages from './0210-messages.ts'
import * as records from './0211-records.ts'
import * as functionsAndRoles from './0212-functions-and-roles.ts'
import * as gotrueLevel from './0213-gotrue-level.ts'
import * as schemaFloor from './0214-schema-floor.ts'
import * as formerMigrations from './0215-former-migrations.ts'

export const migrations: Record<string, Migration> = {
  '0200-users': users,
  '0201-oauth-server': oauthServer,
  '0202-sessions': sessions,
  '0203-tokens': tokens,
  '0204-factors': factors,
  '0205-sso': sso,
  '0206-organizations': organizations,
  '0207-scim': scim,
  '0208-admins': admins,
  '0209-limits': limits,
  '0210-messages': messages,
  '0211-records': records,
  '0212-functions-and-roles': functionsAndRoles,
  '0213-gotrue-level': gotrueLevel,
  '0214-schema-floor': schemaFloor,
  '0215-former-migrations': formerMigrations,
}
