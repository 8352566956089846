/** A user and the first session, inserted in one statement. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { anonymousUser } from '../../support/users.ts'
import { allEvents, typesIn } from '../../support/webhooks/events.ts'

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true', AUTH_EVENTS_ENABLED: 'true' }

suite('user with first session', () => {
  const servers = sharedServers()

  test('returns the stored user and signs once', async (t) => {
    const { app } = await servers(env)
    const signed = t.mock.method(app.jwt, 'signAccessToken')
    const data = { theme: 'dark', é: [1.5, -0.25, null, { z: 1, a: '\\"' }], count: 1e21 }
    const session = await anonymousUser(app, { data })
    assert.equal(signed.mock.callCount(), 1)
    assert.deepEqual((await getUser(app, session)).json(), session.user)
    assert.deepEqual(session.user.user_metadata, data)
  })

  test('emits user.created and user.signed_in', async () => {
    const { app } = await servers(env)
    const { user } = await anonymousUser(app, { data: { theme: 'dark' } })
    const events = await allEvents(app, user.id, 2)
    assert.deepEqual(typesIn(events), ['user.created', 'user.signed_in'])
    for (const { data } of events.filter(({ data }) => data.user)) {
      assert.deepEqual([data.user?.id, data.user?.user_metadata], [user.id, { theme: 'dark' }])
    }
    assert.ok(events[0]?.data.user)
  })

  test('contains changes of a before trigger, also in the token', async (t) => {
    const { app } = await build(t, { env })
    await app.pool.query(`
      create function auth.give_plan() returns trigger language plpgsql as
        $$ begin new.raw_app_meta_data := '{"plan": "free"}'; return new; end $$;
      create trigger give_plan before insert on auth.users
        for each row execute function auth.give_plan()`)
    const session = await anonymousUser(app)
    assert.deepEqual(session.user.app_metadata, { plan: 'free' })
    assert.deepEqual(decodeJwt(session.access_token).app_metadata, { plan: 'free' })
    assert.deepEqual((await getUser(app, session)).json(), session.user)
  })

  test('contains changes of an after trigger, also in the token', async (t) => {
    const { app } = await build(t, { env })
    await app.pool.query(`
      create function auth.give_tenant() returns trigger language plpgsql as $$ begin
        update auth.users set raw_app_meta_data = raw_app_meta_data || '{"tenant": 7}' where id = new.id;
        return new;
      end $$;
      create trigger give_tenant after insert on auth.users
        for each row execute function auth.give_tenant()`)
    const session = await anonymousUser(app)
    assert.deepEqual(session.user.app_metadata, { tenant: 7 })
    assert.deepEqual(decodeJwt(session.access_token).app_metadata, { tenant: 7 })
    assert.deepEqual((await getUser(app, session)).json(), session.user)
  })

  test('stores nothing when the metadata does not fit a token', async (t) => {
    const { app } = await build(t, { env })
    const rejected = await call(app, '/signup', { data: { text: 'x'.repeat(20_000) } })
    assert.deepEqual(statusAndCode(rejected), [422, 'metadata_too_large'])
    for (const table of ['users', 'sessions', 'postern_event_inbox']) {
      const { rows } = await app.pool.query(`select from auth.${table}`)
      assert.equal(rows.length, 0, table)
    }
  })
})
