/** Plans are made once and kept when tables grow: planning takes longer than most statements. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { asAdmin } from '../support/admin.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { changeUser, getUser, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { autoconfirm, newAddress, signIn, signUp, signUpUser } from '../support/users.ts'

/** Postgres makes the first five for the values at hand, and one or two more when a table has grown. */
const maxPlans = 8
const times = 15

const requests: Record<string, (app: App) => Promise<{ statusCode: number }>> = {
  'a sign-up': (app) => signUp(app, { email: newAddress() }),
  'a sign-in': async (app) => signIn(app, { email: (await signUpUser(app)).email }),
  'GET /user': async (app) => getUser(app, await signUpUser(app)),
  'a refresh': async (app) => refresh(app, (await signUpUser(app)).refresh_token),
  'PUT /user': async (app) =>
    changeUser(app, (await signUpUser(app)).access_token, { data: { theme: 'dark' } }),
  'an admin’s request of a user': async (app) =>
    asAdmin(app, 'GET', `/admin/users/${(await signUpUser(app)).user.id}`),
}

suite('query plans', () => {
  const serverFor = sharedServers()

  for (const [name, request] of Object.entries(requests)) {
    test(`caches the query plans of ${name}`, async () => {
      const { app } = await serverFor({ ...autoconfirm, AUTH_DB_MAX_POOL_SIZE: '1' })
      await repeat(app, request)
      await addUsers(app)
      await repeat(app, request)
      const { rows } = await sql<{ statement: string; plans: number }>`
        select statement, custom_plans::int as plans from pg_prepared_statements`.execute(app.db)
      assert.ok(rows.length > 0)
      assert.deepEqual(
        rows.filter(({ plans }) => plans > maxPlans),
        [],
      )
    })
  }
})

async function repeat(app: App, request: (typeof requests)[string]): Promise<void> {
  for (let time = 0; time < times; time++) {
    const { statusCode } = await request(app)
    assert.equal(statusCode, 200)
  }
}

/** Waits until Postgres has counted them. */
async function addUsers(app: App): Promise<void> {
  await sql`with added as (
      insert into auth.users (id, instance_id, aud, role, email, created_at, updated_at, raw_app_meta_data, raw_user_meta_data)
      select gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated',
        gen_random_uuid() || '@example.com', now(), now(), '{}', '{}' from generate_series(1, 1000) as n
      returning id, email)
    insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
    select gen_random_uuid(), id, 'email', id, jsonb_build_object('sub', id, 'email', email), now(), now() from added`.execute(
    app.db,
  )
  await sql`analyze`.execute(app.db)
}
