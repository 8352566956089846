/** `data` of an admin’s invitation or link becomes user_metadata unchanged. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import {
  adminCreatedUser,
  confirmedUser,
  invite,
  newAddress,
  password,
  unconfirmedUser,
} from '../../support/users.ts'

type Linked = User & { hashed_token: string }

suite('data of admin invitations and links', () => {
  const servers = sharedServers()
  const generate = async (type: string, email: string, data?: object): Promise<Linked> =>
    adminCall((await servers()).app, 'POST', '/admin/generate_link', {
      type,
      email,
      data,
      ...(type === 'signup' && { password }),
    })

  for (const type of ['signup', 'invite', 'magiclink']) {
    test(`${type} for a new email: stores data as the whole user_metadata`, async () => {
      const { app } = await servers()
      const made = await generate(type, newAddress(), { name: 'Ann', sub: 'x' })
      assert.deepEqual(made.user_metadata, { name: 'Ann', sub: 'x' })
      const [identity] = made.identities ?? []
      assert.deepEqual(identity?.identity_data, {
        sub: made.id,
        email: made.email,
        email_verified: false,
        phone_verified: false,
      })
      const as = type === 'invite' ? 'invite' : 'signup'
      const session = await verify(app, { type: as, token_hash: made.hashed_token })
      const known = { name: 'Ann', sub: 'x', email_verified: true }
      assert.deepEqual(session.json().user.user_metadata, known)
    })

    test(`${type} for an unconfirmed user created by an admin: merges data`, async () => {
      const server = await servers()
      const [created, invited] = [newAddress(), newAddress()]
      const user_metadata = { name: 'Ann', team: 'blue' }
      await adminCreatedUser(server.app, { email: created, user_metadata })
      await invite(server, invited, { data: user_metadata })
      for (const email of [created, invited, invited]) {
        const made = await generate(type, email, { team: 'red', name: null })
        assert.deepEqual(made.user_metadata, { team: 'red' })
      }
    })
  }

  test('keeps the data of the first invitation when it is sent again', async () => {
    const server = await servers()
    const email = newAddress()
    await invite(server, email, { data: { team: 'blue' } })
    const again = await asAdmin(server.app, 'POST', '/invite', { email, data: { team: 'red' } })
    assert.deepEqual(again.json<User>().user_metadata, { team: 'blue' })
  })

  test('drops the metadata of an unconfirmed sign-up when the link is opened', async () => {
    const server = await servers()
    const { user } = await unconfirmedUser(server, newAddress(), { data: { name: 'Mallory' } })
    const { hashed_token } = await generate('invite', user.email, { team: 'blue' })
    const session = await verify(server.app, { type: 'invite', token_hash: hashed_token })
    const known = { team: 'blue', email_verified: true }
    assert.deepEqual(session.json().user.user_metadata, known)
  })

  test('does not change a confirmed user', async () => {
    const server = await servers()
    const { user, access_token } = await confirmedUser(server)
    await generate('magiclink', user.email, { team: 'red' })
    const now = await call(server.app, '/user', undefined, { token: access_token })
    assert.deepEqual(now.json<User>().user_metadata, user.user_metadata)
  })

  test('rejects data that is too large in total', async () => {
    const server = await servers()
    const email = newAddress()
    await invite(server, email, { data: { a: 'x'.repeat(6_000) } })
    const body = { type: 'invite', email, data: { b: 'x'.repeat(6_000) } }
    const response = await asAdmin(server.app, 'POST', '/admin/generate_link', body)
    assert.equal(response.json().error_code, 'metadata_too_large')
  })
})
