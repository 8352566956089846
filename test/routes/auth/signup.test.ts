/** Responses of /signup and /token reveal nothing about the account of an email. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { updateUser } from '../../../db/users/update-user.ts'
import { findUserByEmail } from '../../../db/users/users.ts'
import { asAdmin } from '../../support/admin.ts'
import { waitForEmailAttempt } from '../../support/messages/mail-attempts.ts'
import type { MailServer } from '../../support/messages/mail-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import type { App } from '../../support/server.ts'
import {
  addresses,
  confirmedUser,
  newAddress,
  password,
  signIn,
  signUp,
} from '../../support/users.ts'

const states = ['unknown', 'unconfirmed', 'confirmed', 'banned', 'invited', 'soft-deleted'] as const
type State = (typeof states)[number]

suite('POST /signup and /token: account enumeration', () => {
  const serverFor = sharedServers()

  test('responds to a sign-up identically for each account state', async () => {
    const { app, mail } = await serverFor()
    const shapes: Record<string, unknown> = {}
    for (const state of states) {
      const email = await account(app, mail, state)
      const data = { name: 'x', email_verified: true }
      const response = await signUp(app, { email }, { data })
      shapes[state] = toShape(response, [email])
    }
    assertAllEqual(shapes, ({ identities: _, ...rest }) => rest)
  })

  test('reveals a taken email only by empty identities, as SDKs expect', async () => {
    const { app, mail } = await serverFor()
    for (const state of states) {
      const email = await account(app, mail, state)
      const before = Date.now()
      const user = (await signUp(app, { email })).json()
      for (const time of [user.created_at, user.updated_at, user.confirmation_sent_at]) {
        assert.ok(Date.parse(time) >= before, `${state}: ${time} is older than the request`)
      }
      const isTaken = state === 'confirmed' || state === 'banned' || state === 'invited'
      assert.equal(user.identities.length, isTaken ? 0 : 1, state)
      const owner = await findUserByEmail(app.db, email, 'authenticated')
      if (isTaken) assert.notEqual(user.id, owner?.id)
      assert.equal(user.email, email, state)
    }
  })

  test('attempts an email to a taken address like to a free one', async () => {
    const server = await serverFor()
    const email = await account(server.app, server.mail, 'confirmed')
    await waitForEmailAttempt(server, () => signUp(server.app, { email }))
  })

  test('responds to a wrong password identically for each account state', async () => {
    const { app, mail } = await serverFor()
    const shapes: Record<string, unknown> = {}
    for (const state of states) {
      const email = await account(app, mail, state)
      const wrong = { email, password: `not ${password}` }
      const response = await signIn(app, wrong)
      assert.equal(response.json().error_code, 'invalid_credentials')
      shapes[state] = { ...toShape(response, []), body: response.body }
    }
    assertAllEqual(shapes)
  })

  test('reveals the account state only after the correct password', async () => {
    const { app, mail } = await serverFor()
    const reported: Partial<Record<State, string>> = {
      unconfirmed: 'email_not_confirmed',
      banned: 'user_banned',
      'soft-deleted': 'invalid_credentials',
    }
    for (const [state, code] of Object.entries(reported)) {
      const email = await account(app, mail, state)
      const response = await signIn(app, { email })
      assert.equal(response.statusCode, 400)
      assert.equal(response.json().error_code, code)
    }
  })

  test('normalizes the spelling of an email', async () => {
    const { app, mail } = await serverFor()
    const email = await account(app, mail, 'confirmed')
    for (const spelling of [
      email.toUpperCase(),
      ` ${email} `,
      email.replace('example', 'ｅxample'),
    ]) {
      const signedIn = await signIn(app, { email: spelling })
      assert.equal(signedIn.statusCode, 200, spelling)
      const repeated = await signUp(app, { email: spelling })
      assert.deepEqual(repeated.json().identities, [])
      assert.equal(repeated.json().email, email)
    }
  })
})

/** Creates an account in this state; returns its email. */
async function account(app: App, mail: MailServer, state: string): Promise<string> {
  const made = addresses[state]
  if (made) return made({ app, mail })
  const email = newAddress()
  if (state === 'invited') await signUp(app, { email })
  else await confirmedUser({ app, mail }, email)
  const user = await findUserByEmail(app.db, email, 'authenticated')
  if (state === 'soft-deleted') {
    const response = await asAdmin(app, 'DELETE', `/admin/users/${user?.id}`, {
      should_soft_delete: true,
    })
    assert.equal(response.statusCode, 200)
  }
  if (state === 'invited') {
    const now = new Date()
    const change = { invited_at: now, encrypted_password: null }
    await updateUser(app.db, user?.id ?? '', change, now)
  }
  return email
}

type Response = Awaited<ReturnType<typeof signUp>>

/** The response without its variable parts: times, ids and the submitted email. */
function toShape(response: Response, sent: string[]) {
  const { date: _, 'x-request-id': __, 'content-length': ___, ...headers } = response.headers
  const { identities, ...body } = response.json()
  const text = sent.reduce((all, word) => all.replaceAll(word, '<sent>'), JSON.stringify(body))
  return {
    status: response.statusCode,
    headers,
    body: text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'),
    names: Object.keys(response.json()),
    identities,
  }
}

type Shape = ReturnType<typeof toShape>

function assertAllEqual(shapes: Record<string, unknown>, pick = (shape: Shape): object => shape) {
  const entries = Object.entries(shapes) as [string, Shape][]
  const [first] = entries
  for (const [state, shape] of entries) {
    assert.deepEqual(pick(shape), first && pick(first[1]), `${state} differs from ${first?.[0]}`)
  }
}
