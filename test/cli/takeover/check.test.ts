/** `npm run takeover -- check`: each finding, and the exit code. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { checkTakeover } from '../../../cli/takeover/check.ts'
import type { TakeoverFinding } from '../../../cli/takeover/contents.ts'
import { createDb } from '../../../db/core/database.ts'
import { createPool } from '../../../plugins/database/pool/index.ts'
import { encryptionKeyId as idOfKey } from '../../../plugins/security/encryption/keys.ts'
import { columns, query } from '../../db/sql.ts'
import { encryptionKey, testConfig } from '../../support/config.ts'
import { emptyDatabase } from '../../support/database.ts'
import { gotrueDatabase } from '../../support/gotrue/database.ts'
import { gotrueSealed } from '../../support/gotrue/encryption.ts'
import { startCli } from '../../support/processes/cli-process.ts'
import { createIdp } from '../../support/saml/idp.ts'
import { samlOn } from '../../support/saml/server.ts'

const keyId = 'k1'
const key = randomBytes(32)
const ownKeyId = idOfKey(Buffer.from(encryptionKey, 'base64url'))
const user = '11111111-1111-4111-8111-111111111111'
const insertUser = `insert into auth.users (id, aud, role, email, instance_id, created_at, updated_at)
  values ('${user}', 'authenticated', 'authenticated', 'ada@example.com', '${'0'.repeat(8)}-0000-0000-0000-000000000000', now(), now())`

const insertOther = insertUser.replace(user, crypto.randomUUID()).replace('ada@', 'bob@')

async function findings(url: string, env: Record<string, string> = {}): Promise<TakeoverFinding[]> {
  const pool = createPool({ connectionString: url, max: 1, log: { warn() {} } })
  try {
    const config = testConfig({ DATABASE_URL: url, ...env }, false)
    return await checkTakeover({ config, pool, db: createDb(pool, 'auth') })
  } finally {
    await pool.end()
  }
}

const formatFindings = (found: TakeoverFinding[]) =>
  found.map(({ level, sentence }) => `${level} ${sentence}`).join('\n')

interface Database {
  /** Statements that its owner runs before. */
  given: string[]
  env?: Record<string, string>
  /** What one check of it reports, each in a line. */
  finds: Record<string, RegExp>
}

const oauthClient = [
  `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type)
    values (gen_random_uuid(), 'manual', 'https://app.example', 'authorization_code', 'none', 'public')`,
]

const samlProvider = '22222222-2222-4222-8222-222222222222'
const expiredMetadata = createIdp().metadata.replace(
  '<EntityDescriptor',
  '<EntityDescriptor validUntil="2020-01-01T00:00:00Z"',
)
const expiredSamlProvider = [
  `insert into auth.sso_providers (id, created_at, updated_at) values ('${samlProvider}', now(), now())`,
  `insert into auth.saml_providers (id, sso_provider_id, entity_id, metadata_xml, created_at, updated_at)
    values (gen_random_uuid(), '${samlProvider}', 'https://idp.example', '${expiredMetadata}', now(), now())`,
]

const claimsHook = {
  GOTRUE_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: 'true',
  GOTRUE_HOOK_CUSTOM_ACCESS_TOKEN_URI: 'pg-functions://postgres/public/claims',
}

const databases: Database[] = [
  {
    given: [],
    finds: {
      'the current migrations': /^ok GoTrue's migrations are at \d{14}\.$/m,
      'that every migration succeeds':
        /^ok \d+ migrations were tried in a transaction and rolled back: all succeed\.$/m,
      'an owning role': /^ok The login \w+ owns the tables\.$/m,
      'the default algorithm': /^ok New access tokens would be signed with RS256\.$/m,
    },
  },
  {
    given: [`delete from auth.schema_migrations where version > '20250101'`],
    finds: {
      'older migrations':
        /^stop GoTrue's migrations end at 20241009103726, .* run GoTrue v2\.196\.0 .*"auth migrate"/m,
    },
  },
  {
    given: [
      `delete from auth.schema_migrations where version > '20240501'`,
      'alter table auth.sessions drop column refresh_token_hmac_key',
      'drop table auth.oauth_clients cascade',
    ],
    finds: {
      'tables of older migrations, with a partial check':
        /^stop GoTrue's migrations end at (?:.|\n)*^ok The login \w+ owns the tables\.$(?:.|\n)*^note The contents of the tables are checked once their migrations are current\.$(?:.|\n)* listen on port/m,
    },
  },
  {
    given: [
      `insert into auth.schema_migrations values ('20991231000000')`,
      `insert into auth.users (id) select gen_random_uuid() from generate_series(1, 20000)`,
    ],
    finds: {
      'newer migrations': /^note GoTrue has 1 newer migrations than this version supports/m,
      'the duration of the first start':
        /^ok Ready after about 8 s: most of it is building indexes/m,
    },
  },
  {
    given: [insertUser, 'create view auth.postern_webhooks as select 1 as id', ...oauthClient],
    env: { AUTH_JWT_AUD: 'customers' },
    finds: {
      'a failing migration with its reason':
        /^stop The migration 0210-messages fails on this database: .*postern_webhooks/m,
      'users that lookups do not find':
        /^stop No user has the audience "customers" .* of the 1 users, 1 have "authenticated"\. .* set AUTH_JWT_AUD=authenticated\.$/m,
      'the OAuth server in use':
        /^stop The database has OAuth clients \(1\).*Set AUTH_OAUTH_SERVER_ENABLED=true.*AUTH_TAKEOVER_ACCEPT_MISSING=oauth_server/m,
    },
  },
  {
    given: [
      insertUser,
      factorUnder(keyId),
      factorUnder(ownKeyId),
      factorUnder('lost'),
      `update auth.users set encrypted_password = '${gotrueSealed('gone', key, user, 'x')}'`,
    ],
    env: {
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `${keyId}:${key.toString('base64url')}`,
      AUTH_ENCRYPTION_KEY: encryptionKey,
    },
    finds: {
      'secrets under a configured key': /^ok Secrets under the key "k1" can be decrypted\.$/m,
      'secrets encrypted by Postern': new RegExp(
        `^ok Secrets under the key "${ownKeyId}" can be decrypted\\.$`,
        'm',
      ),
      'secrets under a missing key':
        /^stop Secrets under the key "lost" cannot be decrypted: add it to AUTH_SECURITY_DB/m,
      'a password under a missing key': /^stop Secrets under the key "gone" cannot be decrypted/m,
    },
  },
  {
    given: [
      insertUser,
      "update auth.users set aud = 'team'",
      insertOther,
      ...oauthClient,
      ...expiredSamlProvider,
    ],
    env: {
      ...samlOn,
      AUTH_JWT_ALLOWED_AUDIENCES: 'others',
      AUTH_TAKEOVER_ACCEPT_MISSING: 'oauth_server',
    },
    finds: {
      'users of an audience that is not allowed':
        /^note 1 users have the audience "team", which is not in AUTH_JWT_ALLOWED_AUDIENCES/m,
      'the OAuth server in use, accepted as missing':
        /^note The database has OAuth clients \(1\), and the OAuth server is off\. Accepted\.$/m,
      'a SAML provider with expired metadata':
        /^note The metadata of https:\/\/idp\.example \(22222222-.* expired at 2020-01-01T00:00:00\.000Z, and sign-ins are rejected: send a current document/m,
    },
  },
  {
    given: [insertUser, "update auth.users set aud = ''"],
    finds: {
      'users without an audience when GOTRUE_JWT_AUD was never set':
        /^stop No user has the audience "authenticated" .* 1 have ""\. .* run update auth\.users set aud = 'authenticated' .* GOTRUE_JWT_AUD=authenticated/m,
    },
  },
  {
    given: [
      insertUser,
      'create function public.greet() returns trigger language plpgsql as $$ begin return new; end $$',
      'create trigger greet after insert on auth.users for each row execute function public.greet()',
      'create table public.profiles (id uuid primary key references auth.users (id))',
      "create function auth.is_member(team uuid) returns int language sql as 'select 1'",
      `create function public.claims(event jsonb) returns jsonb language sql as 'select event'`,
    ],
    env: claimsHook,
    finds: {
      'the amount of data': /^ok users: 1 in use, \d+ kB\.$(?:.|\n)*^ok flow_state: 0 in use/m,
      'a custom trigger': /^note The trigger greet on auth\.users keeps working\.$/m,
      'a custom foreign key':
        /^note The foreign key profiles_id_fkey of profiles keeps working\.$/m,
      'a function with the name of one for organizations':
        /^note The function auth\.is_member\(uuid\) is kept instead of the one for organizations\./m,
      'a hook function': /^ok The hook CUSTOM_ACCESS_TOKEN calls public\.claims\.$/m,
    },
  },
  {
    given: [],
    env: {
      ...claimsHook,
      GOTRUE_MAILER_TEMPLATES_INVITE: 'http://templates-server/invite.html',
      GOTRUE_HOOK_SEND_SMS_ENABLED: 'true',
      GOTRUE_HOOK_SEND_SMS_URI: 'https://hooks.example/sms?key=secret',
      GOTRUE_API_PORT: '9999',
      AUTH_JWT_SECRET: '',
      GOTRUE_JWT_SECRET: randomBytes(32).toString('base64url'),
    },
    finds: {
      'email templates that cannot be fetched':
        /^note AUTH_MAILER_TEMPLATES_INVITE is not an https URL, so the built-in email/m,
      'enabled hooks without secrets in their URLs':
        /^ok The hook SEND_SMS is called at hooks\.example\.$/m,
      'a missing hook function':
        /^stop The hook CUSTOM_ACCESS_TOKEN calls public\.claims, which does not exist with a jsonb argument or may not be called: create it, or "grant execute on function public\.claims to \w+;"$/m,
      'the port': /^ok .* listen on port 9999\.$/m,
      'the algorithm of a shared secret': /^ok New access tokens would be signed with HS256\.$/m,
    },
  },
]

function factorUnder(id: string): string {
  const factor = crypto.randomUUID()
  const secret = gotrueSealed(id, key, factor, 'JBSWY3DPEHPK3PXP')
  return `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret)
    values ('${factor}', '${user}', 'totp', 'verified', now(), now(), '${secret}')`
}

/** The findings about it; checking must not change its tables. */
async function checked({ given, env }: Database): Promise<string> {
  const { url, drop } = await gotrueDatabase()
  try {
    await query(url, ...given)
    const before = await columns(url)
    const found = formatFindings(await findings(url, env))
    assert.deepEqual(await columns(url), before)
    return found
  } finally {
    await drop()
  }
}

suite('takeover check', () => {
  for (const database of databases) {
    let report: Promise<string> | undefined
    for (const [what, line] of Object.entries(database.finds)) {
      test(`reports ${what}`, async () => {
        report ??= checked(database)
        assert.match(await report, line)
      })
    }
  }

  test('finds an empty database', async (t) => {
    const { url } = await emptyDatabase(t)
    assert.match(formatFindings(await findings(url)), /^ok The schema "auth" has no users/m)
  })

  test('finds a role that neither owns the tables nor can add to them', async (t) => {
    const { url, login } = await limitedLogin(t)
    await query(url, `grant usage on schema auth to ${login.name}`, ...readAll(login.name))

    const lines = formatFindings(await findings(login.url))

    assert.match(lines, new RegExp(`^stop The login ${login.name} does not own the tables`, 'm'))
    const grant = `^stop .* may not create tables in the schema auth: .*: grant usage, create on schema auth to ${login.name};$`
    assert.match(lines, new RegExp(grant, 'm'))
    const schema = `^stop .* of the job queue: .*: create schema auth_jobs authorization ${login.name};$`
    assert.match(lines, new RegExp(schema, 'm'))
  })

  test('the suggested grants suffice', async (t) => {
    const { url, login } = await limitedLogin(t)
    await query(url, `grant usage on schema auth to ${login.name}`, ...readAll(login.name))
    await query(url, ...ownAll(login.name))
    const requested = (await findings(login.url))
      .filter(({ level }) => level === 'stop')
      .map(({ sentence }) => sentence.replace(/^.*: /, ''))
    assert.equal(requested.length, 2)

    await query(url, ...requested)

    const found = await findings(login.url)
    assert.deepEqual(
      found.filter(({ level }) => level === 'stop'),
      [],
    )
  })

  const exits = [
    {
      what: 'nothing blocks the migration',
      given: [],
      code: 0,
      plan: /^Nothing prevents the start\.\n1\. Start this server .*\n2\. .*stop GoTrue.*\n3\. .*takeover -- undo.*takeover -- finish.*\n$/m,
    },
    {
      what: 'something blocks the migration',
      given: oauthClient,
      code: 1,
      plan: /^1 to be fixed first: every line that begins with "stop"\. Then run this again\.\n$/m,
    },
  ]
  for (const { what, given, code, plan } of exits) {
    test(`exits with ${code} when ${what}`, async (t) => {
      const { url } = await gotrueDatabase(t)
      await query(url, ...given)
      const env = {
        DATABASE_URL: url,
        GOTRUE_SITE_URL: 'http://app.example',
        API_EXTERNAL_URL: 'http://auth.example',
        GOTRUE_DB_DRIVER: 'postgres',
        GOTRUE_JWT_SECRET: randomBytes(32).toString('base64url'),
        GOTRUE_MAILER_OTP_EXP: '0',
      }
      const { written, ended } = startCli(t, ['takeover', 'check'], {
        cwd: import.meta.dirname,
        env,
      })

      assert.equal(await ended, code, written.err)
      assert.match(written.out, plan)
      assert.match(written.out, /^note {3}GOTRUE_MAILER_OTP_EXP is 0, which means 24h\.$/m)
    })
  }
})

const readAll = (login: string) => [
  `grant select on all tables in schema auth to ${login}`,
  `grant usage on all sequences in schema auth to ${login}`,
]

/** GoTrue's tables belong to its login; of their schema it is no owner in the databases of older standard images. */
const ownAll = (login: string) => [
  `do $$ declare name text; begin
    for name in select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
    loop execute format('alter table auth.%I owner to ${login}', name); end loop; end $$`,
]

async function limitedLogin(t: TestContext) {
  const database = await gotrueDatabase()
  const name = `limited_${randomBytes(6).toString('hex')}`
  await query(database.url, `create role ${name} login password 'secret'`)
  t.after(async () => {
    await query(database.url, `drop owned by ${name}`)
    await database.drop()
    await query(String(process.env.TEST_ADMIN_URL), `drop role ${name}`)
  })
  const url = Object.assign(new URL(database.url), { username: name, password: 'secret' })
  return { url: database.url, login: { name, url: url.href } }
}
