/** POST /verify in the form of the specification: the token alone, and fields that SDKs do not send. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../../schemas/session.ts'
import { adminCall } from '../../../support/admin.ts'
import { emailAfter, emailedToken, pkcePair } from '../../../support/messages/mail-journeys.ts'
import { codeIn } from '../../../support/messages/mail-links.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../../support/requests.ts'
import {
  confirmedUser,
  newAddress,
  password,
  signIn,
  unconfirmedUser,
} from '../../../support/users.ts'

const redirect_to = 'https://elsewhere.example/not-allowed'

interface Generated {
  hashed_token: string
  verification_type: string
}

suite('POST /verify: form of the specification', () => {
  const servers = sharedServers()

  const generate = async (type: string, email: string) =>
    adminCall<Generated>((await servers()).app, 'POST', '/admin/generate_link', {
      type,
      email,
      new_email: newAddress('new'),
      ...(type === 'signup' && { password }),
    })

  for (const type of ['signup', 'invite', 'recovery', 'magiclink', 'email_change']) {
    test(`type ${type}: accepts the token of the link without an email`, async () => {
      const server = await servers()
      const email = newAddress()
      if (type !== 'signup' && type !== 'invite') await confirmedUser(server, email)
      const linkType = type === 'email_change' ? 'email_change_new' : type
      const { hashed_token: token } = await generate(linkType, email)
      const response = await verify(server.app, { type, token, redirect_to })
      assert.equal(response.statusCode, 200, response.body)
      // The first of the two confirmations of an email change.
      if (type === 'email_change') return assert.equal(response.json().code, '200')
      assert.equal(response.json<Session>().type, type)
      const again = await verify(server.app, { type, token })
      assert.equal(again.json().error_code, 'otp_expired')
    })
  }

  test('rejects the token of a PKCE link, which has to be exchanged as auth code', async () => {
    const server = await servers()
    const email = newAddress()
    await confirmedUser(server, email)
    const message = await emailAfter(server, email, () =>
      call(server.app, '/recover', { email, ...pkcePair().fields }),
    )
    const token = emailedToken(message)
    assert.match(token, /^pkce_/)
    const response = await verify(server.app, { type: 'recovery', token })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })

  test('accepts the token with its email and rejects another email without consuming it', async () => {
    const { app } = await servers()
    const email = newAddress()
    const { hashed_token: token } = await generate('invite', email)
    const other = await verify(app, { type: 'invite', token, email: newAddress() })
    assert.deepEqual([other.statusCode, other.json().error_code], [403, 'otp_expired'])
    const own = await verify(app, { type: 'invite', token, email: email.toUpperCase() })
    assert.equal(own.json<Session>().user.email, email, own.body)
  })

  test('ignores redirect_to with a code or a token_hash', async () => {
    const server = await servers()
    const { user, message } = await unconfirmedUser(server)
    const token = codeIn(message)
    const typed = await verify(server.app, {
      type: 'signup',
      email: user.email,
      token,
      redirect_to,
    })
    assert.equal(typed.statusCode, 200, typed.body)
    const { hashed_token: token_hash } = await generate('recovery', user.email)
    const handed = await verify(server.app, { type: 'recovery', token_hash, redirect_to })
    assert.equal(handed.statusCode, 200, handed.body)
  })

  test('sets the password of a user without one', async () => {
    const { app } = await servers()
    const email = newAddress()
    const { hashed_token: token } = await generate('invite', email)
    const response = await verify(app, { type: 'invite', token, password, redirect_to })
    assert.equal(response.statusCode, 200, response.body)
    assert.equal((await signIn(app, { email })).statusCode, 200)
  })
})
