/** What an answer tells of the account behind an address: nothing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { updateUser } from '../../db/user-rows.ts'
import { findUserByEmail } from '../../db/users.ts'
import { asAdmin } from '../support/admin.ts'
import { untilMailAttempted } from '../support/mail-attempts.ts'
import type { MailServer } from '../support/mail-server.ts'
import {
  addresses,
  confirmedPerson,
  newAddress,
  password,
  signIn,
  signUp,
} from '../support/people.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const states = ['unknown', 'unconfirmed', 'confirmed', 'banned', 'invited', 'soft-deleted'] as const
type State = (typeof states)[number]

suite('addresses and what is told of them', () => {
  const serverFor = sharedServers()

  test('a sign-up is answered alike, whoever owns the address', async () => {
    const { app, mail } = await serverFor()
    const shapes: Record<string, unknown> = {}
    for (const state of states) {
      const email = await person(app, mail, state)
      const data = { name: 'x', email_verified: true }
      const response = await signUp(app, { email }, { data })
      shapes[state] = shapeOf(response, [email])
    }
    allAlike(shapes, ({ identities: _, ...rest }) => rest)
  })

  test('only the list of identities tells a taken address, because SDKs read it', async () => {
    const { app, mail } = await serverFor()
    for (const state of states) {
      const email = await person(app, mail, state)
      const before = Date.now()
      const user = (await signUp(app, { email })).json()
      for (const time of [user.created_at, user.updated_at, user.confirmation_sent_at]) {
        assert.ok(Date.parse(time) >= before, `${state}: ${time} is older than the request`)
      }
      const isTaken = state === 'confirmed' || state === 'banned' || state === 'invited'
      assert.equal(user.identities.length, isTaken ? 0 : 1, state)
      const owner = await findUserByEmail(app.db, email, 'authenticated')
      if (isTaken) assert.notEqual(user.id, owner?.id)
    }
  })

  test('a mail to a taken address is attempted like any other, since that takes time', async () => {
    const server = await serverFor()
    const email = await person(server.app, server.mail, 'confirmed')
    await untilMailAttempted(server, () => signUp(server.app, { email }))
  })

  test('a wrong password is answered alike, whoever owns the address', async () => {
    const { app, mail } = await serverFor()
    const shapes: Record<string, unknown> = {}
    for (const state of states) {
      const email = await person(app, mail, state)
      const wrong = { email, password: `not ${password}` }
      const response = await signIn(app, wrong)
      assert.equal(response.json().error_code, 'invalid_credentials')
      shapes[state] = { ...shapeOf(response, []), body: response.body }
    }
    allAlike(shapes)
  })

  test('the state of an account is told to who knows its password', async () => {
    const { app, mail } = await serverFor()
    const told: Partial<Record<State, string>> = {
      unconfirmed: 'email_not_confirmed',
      banned: 'user_banned',
      'soft-deleted': 'invalid_credentials',
    }
    for (const [state, code] of Object.entries(told)) {
      const email = await person(app, mail, state)
      const response = await signIn(app, { email })
      assert.equal(response.statusCode, 400)
      assert.equal(response.json().error_code, code)
    }
  })

  test('an address is one address, however it is written', async () => {
    const { app, mail } = await serverFor()
    const email = await person(app, mail, 'confirmed')
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

/** Makes an account in this state; returns its address. */
async function person(app: App, mail: MailServer, state: string): Promise<string> {
  const made = addresses[state]
  if (made) return made({ app, mail })
  const email = newAddress()
  if (state === 'invited') await signUp(app, { email })
  else await confirmedPerson({ app, mail }, email)
  const user = await findUserByEmail(app.db, email, 'authenticated')
  if (state === 'soft-deleted') {
    const answer = await asAdmin(app, 'DELETE', `/admin/users/${user?.id}`, {
      should_soft_delete: true,
    })
    assert.equal(answer.statusCode, 200)
  }
  if (state === 'invited') {
    const now = new Date()
    const change = { invited_at: now, encrypted_password: null }
    await updateUser(app.db, user?.id ?? '', change, now)
  }
  return email
}

type Answer = Awaited<ReturnType<typeof signUp>>

/** Everything of an answer but what is fresh in each: times, ids and the address that was sent. */
function shapeOf(response: Answer, sent: string[]) {
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

type Shape = ReturnType<typeof shapeOf>

function allAlike(shapes: Record<string, unknown>, pick = (shape: Shape): object => shape) {
  const entries = Object.entries(shapes) as [string, Shape][]
  const [first] = entries
  for (const [state, shape] of entries) {
    assert.deepEqual(pick(shape), first && pick(first[1]), `${state} differs from ${first?.[0]}`)
  }
}
