import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, newAddress, password, signUp, signUpUser } from '../../support/users.ts'

const env = { ...autoconfirm, AUTH_USERNAMES_ENABLED: 'true' }
const always = { ...env, AUTH_USERNAMES_CHANGE_INTERVAL: '0' }

const choose = (app: App, token: string, username: string) =>
  call(app, '/user/username', { username }, { method: 'PUT', token })

const read = (app: App, token: string) => call(app, '/user/username', undefined, { token })

const signInByName = (app: App, username: string) =>
  call(app, '/token?grant_type=password', { username, password })

/** Its tests share servers, so each has names of its own. */
suite('username of the current user', () => {
  const server = sharedServers()

  test('can be set at any time and changed only after the interval', async () => {
    const { app } = await server(env)
    const { access_token: token } = await signUpUser(app)
    assert.deepEqual((await read(app, token)).json(), { username: null })
    const set = await choose(app, token, 'Ann')
    assert.equal(set.statusCode, 200, set.body)
    const { username, changeable_at } = set.json<Record<string, string>>()
    assert.equal(username, 'ann')
    assert.ok(Date.parse(changeable_at ?? '') > Date.now())
    assert.equal((await choose(app, token, 'ann')).statusCode, 200)
    const soon = await choose(app, token, 'anna')
    assert.deepEqual(statusAndCode(soon), [422, 'username_changed_recently'])
    assert.ok(Number(soon.headers['retry-after']) > 0)
    assert.equal((await signInByName(app, 'ann')).statusCode, 200)
  })

  test('stays reserved for its user after a change', async () => {
    const { app } = await server(always)
    const ann = await signUpUser(app)
    const bert = await signUpUser(app)
    await choose(app, ann.access_token, 'ann')
    assert.equal((await choose(app, ann.access_token, 'anna')).statusCode, 200)
    assert.deepEqual(statusAndCode(await signInByName(app, 'ann')), [400, 'invalid_credentials'])
    assert.deepEqual(statusAndCode(await choose(app, bert.access_token, 'ann')), [
      422,
      'username_taken',
    ])
    assert.equal((await choose(app, ann.access_token, 'ann')).statusCode, 200)
    assert.equal((await signInByName(app, 'ann')).statusCode, 200)
  })

  test('is available to other users once the reservation has ended', async () => {
    const { app } = await server({ ...always, AUTH_USERNAMES_HOLD: '0' })
    const ann = await signUpUser(app)
    const bert = await signUpUser(app)
    await choose(app, ann.access_token, 'ann')
    await choose(app, ann.access_token, 'anna')
    assert.equal((await choose(app, bert.access_token, 'ann')).statusCode, 200)
    const { user } = (await signInByName(app, 'ann')).json<{ user: { id: string } }>()
    assert.equal(user.id, bert.user.id)
  })

  test('can be changed to a name that looks like it', async () => {
    const { app } = await server(always)
    const { access_token: token } = await signUpUser(app)
    await choose(app, token, 'modern')
    assert.equal((await choose(app, token, 'rnodern')).statusCode, 200)
    assert.equal((await choose(app, token, 'modern')).statusCode, 200)
  })

  test('is contained in the next token and in app_metadata', async () => {
    const { app } = await server(env)
    const { access_token: token, refresh_token } = await signUpUser(app)
    await choose(app, token, 'clara')
    const renewed = (await refresh(app, refresh_token)).json<{
      user: { app_metadata: Record<string, unknown> }
    }>()
    assert.equal(renewed.user.app_metadata.preferred_username, 'clara')
  })

  test('requires a recent sign-in', async () => {
    const { app } = await server(env)
    const { access_token: token, user } = await signUpUser(app)
    const hourAgo = new Date(Date.now() - 3_600_000)
    await app.db
      .updateTable('sessions')
      .set({ created_at: hourAgo })
      .where('user_id', '=', user.id)
      .execute()
    await app.db
      .updateTable('mfa_amr_claims')
      .set({ created_at: hourAgo, updated_at: hourAgo })
      .where(
        'session_id',
        'in',
        app.db.selectFrom('sessions').select('id').where('user_id', '=', user.id),
      )
      .execute()
    assert.deepEqual(statusAndCode(await choose(app, token, 'dora')), [
      400,
      'reauthentication_needed',
    ])
  })

  test('throttles attempts with taken names', async () => {
    const { app } = await server(always)
    await signUp(app, { email: newAddress() }, { username: 'taken' })
    const { access_token: token } = await signUpUser(app)
    for (let i = 0; i < 11; i += 1) await choose(app, token, 'taken')
    assert.deepEqual(statusAndCode(await choose(app, token, 'taken')), [
      429,
      'over_request_rate_limit',
    ])
  })

  test('is assigned to one of several concurrent changes', async () => {
    const { app } = await server(always)
    const users = await Promise.all(Array.from({ length: 5 }, () => signUpUser(app)))
    const asked = users.map(({ access_token: token }) => choose(app, token, 'wanted'))
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode).toSorted()
    assert.deepEqual(statuses, [200, 422, 422, 422, 422])
  })

  test('is available after its user was deleted', async () => {
    const { app } = await server(always)
    const ann = await signUpUser(app)
    const bert = await signUpUser(app)
    await choose(app, ann.access_token, 'emma')
    await app.db.deleteFrom('users').where('id', '=', ann.user.id).execute()
    assert.equal((await choose(app, bert.access_token, 'emma')).statusCode, 200)
  })
})
