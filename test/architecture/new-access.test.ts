/** Every write that gives access is recorded by modules/access, or a route that demands a proof leads to it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

/** Tables of which a new or changed row opens an account, an organization or the server. */
const accessTables = [
  'identities',
  'mfa_factors',
  'mfa_recovery_code_sets',
  'mfa_recovery_codes',
  'webauthn_credentials',
  'postern_usernames',
  'postern_admins',
  'postern_admin_links',
  'oauth_consents',
  'postern_oauth_device_codes',
  'oauth_clients',
  'postern_oauth_clients',
  'postern_organization_members',
  'postern_organization_invitations',
  'postern_organization_roles',
  'postern_organization_domains',
  'postern_organization_connections',
  'scim_tokens',
  'postern_scim_connections',
  'postern_scim_role_mappings',
  'postern_scim_accounts',
  'custom_oauth_providers',
  'sso_providers',
  'saml_providers',
  'sso_domains',
  'postern_saml_provider_options',
  'postern_signing_keys',
  'postern_api_tokens',
]

/**
 * All other tables of the migrations. Columns of `users` that open an account are below; sessions and codes follow from
 * an authentication, which has tests of its own.
 */
const otherTables = [
  'audit_log_entries',
  'flow_state',
  'instances',
  'mfa_amr_claims',
  'mfa_challenges',
  'oauth_authorizations',
  'oauth_client_states',
  'one_time_tokens',
  'refresh_tokens',
  'saml_relay_states',
  'schema_migrations',
  'scim_users',
  'sessions',
  'users',
  'webauthn_challenges',
  'postern_autoconfirmed_addresses',
  'postern_clean_up_runs',
  'postern_consumed_codes',
  'postern_custom_provider_issuers',
  'postern_deactivations',
  'postern_custom_provider_options',
  'postern_decoy_tokens',
  'postern_encryption_probe',
  'postern_event_inbox',
  'postern_events',
  'postern_factor_challenges',
  'postern_factors',
  'postern_flows',
  'postern_impersonations',
  'postern_imports',
  'postern_known_devices',
  'postern_mail_messages',
  'postern_new_sign_in_methods',
  'postern_oauth_pushed_requests',
  'postern_oauth_requests',
  'postern_oauth_sessions',
  'postern_one_time_tokens',
  'postern_organization_audit_entries',
  'postern_organizations',
  'postern_page_sessions',
  'postern_page_submissions',
  'postern_passkey_challenges',
  'postern_pending_sign_ups',
  'postern_recovery_code_digests',
  'postern_recovery_codes',
  'postern_replays',
  'postern_saml_browsers',
  'postern_saml_logins',
  'postern_saml_logouts',
  'postern_schema_floor',
  'postern_scim_group_members',
  'postern_scim_groups',
  'postern_scim_tokens',
  'postern_send_intervals',
  'postern_send_quotas',
  'postern_session_organizations',
  'postern_session_proofs',
  'postern_setting_changes',
  'postern_settings',
  'postern_sign_in_devices',
  'postern_takeover',
  'postern_throttles',
  'postern_prepared_accounts',
  'postern_tenant_providers',
  'postern_usage_counts',
  'postern_webhook_deliveries',
  'postern_webhooks',
]

/** Calls a function of modules/access in the transaction of the write. */
const records = { recorded: true } as const
/** The routes that lead to the write demand a proof. */
const proven = (...routes: string[]) => ({ routes })
/** Why the write gives no one more access. */
const because = (reason: string) => ({ reason })

const writers: Record<string, { recorded: true } | { routes: string[] } | { reason: string }> = {
  'cli/token.ts': because('a command of the operator'),
  'modules/admins/index.ts': proven('routes/admin/console/admins.ts'),
  'modules/custom-providers/index.ts': proven('routes/admin/custom-providers.ts'),
  'modules/factors/complete.ts': because('recordEnrolled records a factor that becomes verified'),
  'modules/factors/enroll.ts': because('an unverified factor is none'),
  'modules/factors/recovery-codes/generate.ts': records,
  'modules/factors/recovery-codes/verify.ts': because('it consumes a code'),
  'modules/factors/totp.ts': because('it encrypts a stored secret'),
  'modules/identities/accept-invitation.ts': records,
  'modules/identities/identity-row.ts': because(
    'link.ts, match.ts and accept-invitation.ts record it',
  ),
  'modules/identities/match.ts': records,
  'modules/oauth-server/clients/find.ts': because('a metadata document names its own client'),
  'modules/oauth-server/clients/manage.ts': proven('routes/oauth/clients.ts'),
  'modules/oauth-server/clients/registration.ts': because('self-registration needs consent again'),
  'modules/oauth-server/devices.ts': because(
    'answer.ts records the consent, and the device consumes an approved code',
  ),
  'modules/oauth-server/grants.ts': because('it takes a consent away'),
  'modules/oauth-server/requests/answer.ts': records,
  'modules/oauth-server/tokens/issue.ts': because('it counts the use of a client'),
  'modules/organizations/connections.ts': proven('routes/organizations/connections.ts'),
  'modules/organizations/roles.ts': proven(
    'routes/organizations/roles.ts',
    'routes/organizations/connections.ts',
  ),
  'modules/organizations/domain-codes.ts': proven('routes/organizations/domains.ts'),
  'modules/organizations/domains.ts': proven('routes/organizations/domains.ts'),
  'modules/organizations/members.ts': records,
  'modules/organizations/send-invitation.ts': proven('routes/organizations/invitations.ts'),
  'modules/passkeys/manage.ts': because('it renames a passkey'),
  'modules/passkeys/register.ts': records,
  'modules/passkeys/sign-in.ts': because('it counts the use of a passkey'),
  'modules/saml/manage.ts': proven('routes/admin/sso-providers.ts'),
  'modules/saml/metadata.ts': because('it fetches the metadata of the provider again'),
  'modules/scim/connections.ts': proven('routes/admin/scim-connections.ts'),
  'modules/scim/follow-identity.ts': because('the account has the identity already'),
  'modules/scim/link-account.ts': records,
  'modules/scim/users.ts': because('link-account.ts records the link'),
  'modules/sessions/revoke.ts': because('it takes consents away'),
  'modules/user-import/index.ts': because('it inserts new users only'),
  'modules/usernames/change.ts': records,
  'modules/usernames/sign-up.ts': because('it belongs to a new user'),
  'modules/users/admin/users.ts': because('it deletes a user'),
  'modules/users/confirm-email.ts': because('the identity is of the confirmed address'),
  'modules/users/sign-up/clear-unverified.ts': because('it takes consents away'),
  'plugins/security/jwt/signing-keys/stored-keys.ts': proven('routes/admin/keys.ts'),
  'routes/admin/users/factors.ts': records,
}

/** How many routes of each file demand a proof. */
const proofs: Record<string, number> = {
  'routes/admin/console/admins.ts': 2,
  'routes/admin/console/import-export.ts': 1,
  'routes/admin/console/settings.ts': 3,
  'routes/admin/custom-providers.ts': 2,
  'routes/admin/generate-link.ts': 1,
  'routes/admin/keys.ts': 1,
  'routes/admin/scim-connections.ts': 3,
  'routes/admin/sso-providers.ts': 2,
  'routes/admin/users/emails.ts': 1,
  'routes/admin/users/factors.ts': 1,
  'routes/admin/users/sessions.ts': 1,
  'routes/admin/users/user.ts': 1,
  'routes/admin/users/username.ts': 1,
  'routes/admin/users/users.ts': 2,
  'routes/oauth/clients.ts': 3,
  'routes/organizations/connections.ts': 3,
  'routes/organizations/domains.ts': 2,
  'routes/organizations/invitations.ts': 1,
  'routes/organizations/members.ts': 2,
  'routes/organizations/organizations.ts': 3,
  'routes/organizations/roles.ts': 4,
}

/** Files that write a password; the others verify or read it. */
const passwordWriters: Record<string, { recorded: true } | { reason: string }> = {
  'modules/credentials/password-change.ts': records,
  'modules/credentials/password.ts': because('it renews the hash of the same password'),
  'modules/credentials/verification.ts': records,
  'modules/user-import/bulk-record.ts': because('it inserts new users only'),
  'modules/users/admin/change.ts': because('events.ts records the change of an admin'),
  'modules/users/sign-up/clear-unverified.ts': because('the password of the proof replaces others'),
  'modules/users/sign-up/create-user.ts': because('it belongs to a new user'),
}

const migrations = sources(['db/migrations/*.ts'])
const queries = sources(['db/**/*.ts']).filter(
  ({ path }) => !path.startsWith('db/migrations/') && !path.startsWith('db/gotrue/'),
)
const product = sources(['{cli,routes,plugins,modules,server}/**/*.ts'])

suite('new access', () => {
  test('each table of the migrations either gives access or does not', () => {
    const created = /\bensureTable\(\s*db,\s*'(\w+)'|\bcreate table (?:if not exists )?(\w+)/g
    const tables = migrations.flatMap(({ text }) =>
      [...text.matchAll(created)].map(([, ensured, plain]) => ensured ?? plain),
    )
    const known = [...accessTables, ...otherTables]
    assert.deepEqual([...new Set(tables)].toSorted(), known.toSorted())
  })

  test('only these files insert or update rows that give access', () => {
    const names = accessTables.flatMap(findWritingQueries)
    const found = product.filter(({ values }) => names.some((name) => values.has(name)))
    assert.deepEqual(found.map(getPath), Object.keys(writers).toSorted())
  })

  test('these routes demand a proof', () => {
    const counts = product.map(({ path, text }) => ({
      path,
      count: text.split('givesAccess: true').length - 1,
    }))
    const found = counts.filter(({ count }) => count > 0)
    assert.deepEqual(Object.fromEntries(found.map(({ path, count }) => [path, count])), proofs)
  })

  test('only these files write a password', () => {
    const written = /\bencrypted_password: (?!null\b|string\b)/
    const found = product.filter(({ path, text }) => !path.startsWith('cli/') && written.test(text))
    assert.deepEqual(found.map(getPath), Object.keys(passwordWriters).toSorted())
  })

  for (const [path, how] of [...Object.entries(writers), ...Object.entries(passwordWriters)]) {
    if ('recorded' in how) {
      test(`${path} records new access`, () => {
        assert.match(find(path).text, /\brecord(Access|OrganizationRole)\(/)
      })
    }
    if ('routes' in how) {
      for (const route of how.routes) {
        test(`${route} demands a proof for ${path}`, () => {
          assert.match(find(route).text, /\bgivesAccess: true\b/)
        })
      }
    }
  }
})

/** The queries that insert or update rows of the table, by themselves or through a constant of their file. */
function findWritingQueries(table: string): string[] {
  const written = new RegExp(`(insertInto|updateTable|insert into|update)[ (]+['"]?${table}\\b`)
  return queries.flatMap(({ path, text }) => {
    const parts = text.split(/\n(?=(?:export )?(?:async )?(?:function|const) )/)
    const writing = parts.filter((part) => written.test(part)).map(getName)
    return parts
      .filter((part) => writing.some((name) => name && new RegExp(`\\b${name}\\b`).test(part)))
      .map((part) => `${path}: ${getName(part)}`)
  })
}

const getName = (part: string): string => /(?:function|const) (\w+)/.exec(part)?.[1] ?? ''

function find(path: string): Source {
  return product.find((source) => source.path === path) ?? assert.fail(`${path} is missing`)
}

const getPath = ({ path }: Source) => path
