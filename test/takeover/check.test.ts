/** `npm run takeover -- check`: each thing it can find in a database, and the exit code that follows. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { examine } from '../../cli/takeover/check.ts'
import type { Finding } from '../../cli/takeover/finding.ts'
import { createDb } from '../../db/database.ts'
import { keyId as idOfKey } from '../../plugins/encryption/keys.ts'
import { createPool } from '../../plugins/pool.ts'
import { columns, query } from '../db/sql.ts'
import { startCli } from '../support/cli-process.ts'
import { configOf, encryptionKey } from '../support/config.ts'
import { emptyDatabase } from '../support/database.ts'
import { gotrueDatabase } from '../support/gotrue/database.ts'
import { gotrueSealed } from '../support/gotrue/encryption.ts'

const keyId = 'k1'
const key = randomBytes(32)
const ownKeyId = idOfKey(Buffer.from(encryptionKey, 'base64url'))
const person = '11111111-1111-4111-8111-111111111111'
const insertPerson = `insert into auth.users (id, aud, role, email, instance_id, created_at, updated_at)
  values ('${person}', 'authenticated', 'authenticated', 'ada@example.com', '${'0'.repeat(8)}-0000-0000-0000-000000000000', now(), now())`

async function findings(url: string, env: Record<string, string> = {}): Promise<Finding[]> {
  const pool = createPool({ connectionString: url, max: 1, log: { warn() {} } })
  try {
    return await examine(createDb(pool, 'auth'), configOf({ DATABASE_URL: url, ...env }, false))
  } finally {
    await pool.end()
  }
}

const linesOf = (found: Finding[]) =>
  found.map(({ level, sentence }) => `${level} ${sentence}`).join('\n')

interface Case {
  what: string
  /** Statements that the owner of the database runs before. */
  given?: (t: TestContext) => string[]
  env?: Record<string, string>
  finds: RegExp
}

const claimsHook = {
  GOTRUE_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: 'true',
  GOTRUE_HOOK_CUSTOM_ACCESS_TOKEN_URI: 'pg-functions://postgres/public/claims',
}

const provider = '99999999-9999-4999-8999-999999999999'
const cases: Case[] = [
  { what: 'the current migrations', finds: /^ok GoTrue's migrations are at \d{14}\.$/m },
  {
    what: 'older migrations',
    given: () => [`delete from auth.schema_migrations where version > '20250101'`],
    finds:
      /^stop GoTrue's migrations end at 20241009103726, .* run GoTrue v2\.196\.0 .*"auth migrate"/m,
  },
  {
    what: 'tables of before these migrations, of which it says what it can',
    given: () => [
      `delete from auth.schema_migrations where version > '20240501'`,
      'alter table auth.sessions drop column refresh_token_hmac_key',
      'drop table auth.oauth_clients cascade',
    ],
    finds:
      /^stop GoTrue's migrations end at (?:.|\n)*^ok The login \w+ owns the tables\.$(?:.|\n)*^note What the tables hold is looked at when their migrations are current\.$(?:.|\n)* answer on port/m,
  },
  {
    what: 'newer migrations',
    given: () => [`insert into auth.schema_migrations values ('20991231000000')`],
    finds: /^note GoTrue has 1 newer migrations than are known here/m,
  },
  {
    what: 'how long the first start takes',
    given: () => [
      `insert into auth.users (id) select gen_random_uuid() from generate_series(1, 20000)`,
    ],
    finds: /^ok Ready after some 8 s: indexes are built beside the traffic/m,
  },
  { what: 'an owner', finds: /^ok The login \w+ owns the tables\.$/m },
  {
    what: 'secrets under a key that is configured',
    given: () => [insertPerson, factorUnder(keyId)],
    env: { AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `${keyId}:${key.toString('base64url')}` },
    finds: /^ok Secrets under the key "k1" can be read\.$/m,
  },
  {
    what: 'secrets that this server has encrypted',
    given: () => [insertPerson, factorUnder(ownKeyId)],
    env: { AUTH_ENCRYPTION_KEY: encryptionKey },
    finds: new RegExp(`^ok Secrets under the key "${ownKeyId}" can be read\\.$`, 'm'),
  },
  {
    what: 'secrets under a key that is not configured',
    given: () => [insertPerson, factorUnder('lost')],
    finds: /^stop Secrets under the key "lost" cannot be read: add it to AUTH_SECURITY_DB/m,
  },
  {
    what: 'a password under a key that is not configured',
    given: () => [
      insertPerson,
      `update auth.users set encrypted_password = '${gotrueSealed('gone', key, person, 'x')}'`,
    ],
    finds: /^stop Secrets under the key "gone" cannot be read/m,
  },
  {
    what: 'SAML in use',
    given: () => saml,
    finds:
      /^stop In use and not there yet: single sign-on by SAML \(1 rows\)\. AUTH_TAKEOVER_ACCEPT_MISSING=saml/m,
  },
  {
    what: 'SAML in use, and accepted as missing',
    given: () => saml,
    env: { AUTH_TAKEOVER_ACCEPT_MISSING: 'saml' },
    finds: /^note In use and not there yet: single sign-on by SAML \(1 rows\)\. Accepted\.$/m,
  },
  {
    what: 'the OAuth server in use',
    given: () => [
      `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type)
        values (gen_random_uuid(), 'manual', 'https://app.example', 'authorization_code', 'none', 'public')`,
    ],
    finds: /^stop .*: the OAuth server for other applications \(1 rows\)\. .*=oauth_server starts/m,
  },
  {
    what: 'providers that were added at run time',
    given: () => [
      `insert into auth.custom_oauth_providers (provider_type, identifier, name, client_id, client_secret, issuer)
        values ('oidc', 'custom:acme', 'Acme', 'id', 'secret', 'https://id.example')`,
    ],
    finds:
      /^stop .*: providers that were added at run time \(1 rows\)\. .*=custom_providers starts/m,
  },
  {
    what: 'people who sign in with a wallet',
    given: () => [
      insertPerson,
      `insert into auth.identities (provider_id, user_id, identity_data, provider) values ('0x1', '${person}', '{}', 'web3')`,
    ],
    finds: /^stop .*: sign-in with a wallet \(1 rows\)\. .*=web3 starts without/m,
  },
  {
    what: 'templates of mails that would not be fetched',
    env: { GOTRUE_MAILER_TEMPLATES_INVITE: 'http://templates-server/invite.html' },
    finds: /^note AUTH_MAILER_TEMPLATES_INVITE is no https address, so that the built-in mail/m,
  },
  {
    what: 'people whom look-ups would not find',
    given: () => [insertPerson],
    env: { AUTH_JWT_AUD: 'customers' },
    finds:
      /^stop Nobody has the audience "customers" .* of the 1 people, 1 have "authenticated"\. .* set AUTH_JWT_AUD=authenticated\.$/m,
  },
  {
    what: 'people without an audience, where GOTRUE_JWT_AUD was never set',
    given: () => [insertPerson, "update auth.users set aud = ''"],
    finds:
      /^stop Nobody has the audience "authenticated" .* 1 have ""\. .* run update auth\.users set aud = 'authenticated' .* GOTRUE_JWT_AUD=authenticated/m,
  },
  {
    what: 'how much there is',
    given: () => [insertPerson],
    finds: /^ok users: 1 in use, \d+ kB\.$(?:.|\n)*^ok flow_state: 0 in use/m,
  },
  {
    what: 'a trigger of somebody else',
    given: () => [
      'create function public.greet() returns trigger language plpgsql as $$ begin return new; end $$',
      'create trigger greet after insert on auth.users for each row execute function public.greet()',
    ],
    finds: /^note The trigger greet on auth\.users goes on as it did\.$/m,
  },
  {
    what: 'a foreign key of somebody else',
    given: () => ['create table public.profiles (id uuid primary key references auth.users (id))'],
    finds: /^note The foreign key profiles_id_fkey of profiles goes on as it did\.$/m,
  },
  {
    what: 'hooks in use, without what their addresses may hold of secrets',
    env: {
      GOTRUE_HOOK_SEND_SMS_ENABLED: 'true',
      GOTRUE_HOOK_SEND_SMS_URI: 'https://hooks.example/sms?key=secret',
    },
    finds: /^ok The hook SEND_SMS is asked at hooks\.example\.$/m,
  },
  {
    what: 'a hook that is a function',
    given: () => [
      `create function public.claims(event jsonb) returns jsonb language sql as 'select event'`,
    ],
    env: claimsHook,
    finds: /^ok The hook CUSTOM_ACCESS_TOKEN calls public\.claims\.$/m,
  },
  {
    what: 'a hook whose function is not there',
    env: claimsHook,
    finds:
      /^stop The hook CUSTOM_ACCESS_TOKEN calls public\.claims, which takes no jsonb here or may not be called: make it, or "grant execute on function public\.claims to \w+;"$/m,
  },
  { what: 'the port', env: { GOTRUE_API_PORT: '9999' }, finds: /^ok .* answer on port 9999\.$/m },
  {
    what: 'the algorithm of a shared secret',
    env: { AUTH_JWT_SECRET: '', GOTRUE_JWT_SECRET: randomBytes(32).toString('base64url') },
    finds: /^ok New access tokens would be signed with HS256\.$/m,
  },
  { what: 'our own algorithm', finds: /^ok New access tokens would be signed with RS256\.$/m },
]

const saml = [
  `insert into auth.sso_providers (id) values ('${provider}')`,
  `insert into auth.saml_providers (id, sso_provider_id, entity_id, metadata_xml)
    values (gen_random_uuid(), '${provider}', 'https://idp.example', '<x/>')`,
]

function factorUnder(id: string): string {
  const factor = '22222222-2222-4222-8222-222222222222'
  const secret = gotrueSealed(id, key, factor, 'JBSWY3DPEHPK3PXP')
  return `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret)
    values ('${factor}', '${person}', 'totp', 'verified', now(), now(), '${secret}')`
}

suite('takeover check', () => {
  for (const { what, given, env, finds } of cases) {
    test(`finds ${what}`, async (t) => {
      const { url } = await gotrueDatabase(t)
      await query(url, ...(given?.(t) ?? []))
      const before = await columns(url)

      assert.match(linesOf(await findings(url, env)), finds)

      assert.deepEqual(await columns(url), before)
    })
  }

  test('finds an empty database', async (t) => {
    const { url } = await emptyDatabase(t)
    assert.match(linesOf(await findings(url)), /^ok The schema "auth" has no people/m)
  })

  test('finds a login that neither owns the tables nor may add to them', async (t) => {
    const { url, login } = await limitedLogin(t)
    await query(url, `grant usage on schema auth to ${login.name}`, ...readAll(login.name))

    const lines = linesOf(await findings(login.url))

    assert.match(lines, new RegExp(`^stop The login ${login.name} does not own the tables`, 'm'))
    const grant = `^stop Missing right: grant create on schema "auth" to "${login.name}";$`
    assert.match(lines, new RegExp(grant, 'm'))
    const schema = `^stop Missing schema in \\w+: create schema "auth_jobs" authorization "${login.name}";$`
    assert.match(lines, new RegExp(schema, 'm'))
  })

  test('what it asks an administrator for is enough', async (t) => {
    const { url, login } = await limitedLogin(t)
    await query(url, `grant usage on schema auth to ${login.name}`, ...readAll(login.name))
    await query(url, ...ownAll(login.name))
    const asked = (await findings(login.url))
      .filter(({ level }) => level === 'stop')
      .map(({ sentence }) => sentence.replace(/^[^:]*: /, ''))
    assert.equal(asked.length, 2)

    await query(url, ...asked)

    const found = await findings(login.url)
    assert.deepEqual(
      found.filter(({ level }) => level === 'stop'),
      [],
    )
  })

  const exits = [
    {
      what: 'nothing is in the way',
      given: [],
      code: 0,
      plan: /^Nothing is in the way\.\n1\. Start this server .*\n2\. .*stop GoTrue.*\n3\. .*takeover -- undo.*takeover -- finish.*\n$/m,
    },
    {
      what: 'something is',
      given: saml,
      code: 1,
      plan: /^1 to be settled first: every line that begins with "stop"\. Then run this again\.\n$/m,
    },
  ]
  for (const { what, given, code, plan } of exits) {
    test(`ends with ${code} when ${what}`, async (t) => {
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
      assert.match(written.out, /^note {3}GOTRUE_MAILER_OTP_EXP is 0, which stands for 24h\.$/m)
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
