/** Asking for another address tells an anonymous person nothing of its owner, and registered people not for long. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { idle } from '../support/mail-journeys.ts'
import {
  anonymousPerson,
  createdPerson,
  newAddress,
  newNumber,
  password,
  signedIn,
} from '../support/people.ts'
import { buildWithSms, type PhoneServer, sharedSmsServer } from '../support/phone-journeys.ts'
import { call, changeUser, getUser, outcomeOf } from '../support/requests.ts'
import { statementsOf } from '../support/statements.ts'

const env = { AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' }
const waiting = { AUTH_SMTP_MAX_FREQUENCY: '60', AUTH_SMS_MAX_FREQUENCY: '60' }

type Kind = 'email' | 'phone'
const kinds: Kind[] = ['email', 'phone']
const free = (kind: Kind) => (kind === 'email' ? newAddress() : newNumber())

async function takenBy(
  { app }: PhoneServer,
  kind: Kind,
  how: 'proven' | 'unproven',
): Promise<string> {
  const address = free(kind)
  const body = { [kind]: address, [`${kind}_confirm`]: how === 'proven' }
  await createdPerson(app, body)
  return address
}

const guest = ({ app }: PhoneServer) => anonymousPerson(app)

async function registered({ app }: PhoneServer): Promise<Session> {
  const email = newAddress()
  await createdPerson(app, { email, password, email_confirm: true })
  return signedIn(app, email)
}

const post = ({ app }: PhoneServer, url: string, body: object) => call(app, url, body)

const put = ({ app }: PhoneServer, changes: object, { access_token }: Session) =>
  changeUser(app, access_token, changes)

async function me({ app }: PhoneServer, session: Session): Promise<User> {
  return (await getUser(app, session)).json()
}

/** Everything but whose, when and which address. */
function told(user: User, address: string): string {
  return JSON.stringify(user)
    .replaceAll(user.id, 'id')
    .replaceAll(address, 'address')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

suite('an anonymous person who asks for an address', () => {
  const shared = sharedSmsServer({ env })

  for (const kind of kinds) {
    for (const how of ['proven', 'unproven'] as const) {
      test(`${kind} of somebody, ${how}: the same as a free one, and its owner hears nothing`, async () => {
        const server = await shared()
        const taken = await takenBy(server, kind, how)
        const answers = []
        for (const address of [free(kind), taken]) {
          const session = await guest(server)
          const wish = { [kind]: address, password, data: { name: 'Ann' } }
          const asked = await put(server, wish, session)
          assert.equal(asked.statusCode, 200, asked.body)
          assert.equal(asked.json()[`new_${kind}`], address)
          const seen = await me(server, session)
          answers.push([told(asked.json(), address), told(seen, address)])
          const wrong = { type: `${kind}_change`, [kind]: address, token: '000000' }
          answers.at(-1)?.push((await post(server, '/verify', wrong)).body)
          const again = { type: `${kind}_change`, [kind]: address }
          const resent = await post(server, '/resend', again)
          assert.equal(resent.statusCode, 200, resent.body)
        }
        assert.deepEqual(answers[1], answers[0])
        await idle(server)
        assert.deepEqual(sentTo(server, taken), [])
      })
    }

    test(`${kind}: the same work`, async () => {
      const server = await shared()
      const work = []
      for (const address of [free(kind), await takenBy(server, kind, 'proven')]) {
        const session = await guest(server)
        await idle(server)
        const statements = await statementsOf(server.app, () =>
          put(server, { [kind]: address }, session),
        )
        work.push(statements.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 50)))
      }
      const [one = [], other = []] = work
      assert.deepEqual(other.map(unsaved), one.map(unsaved))
    })
  }

  test('the owner keeps the address, and whoever asked for it is still nobody', async () => {
    const server = await shared()
    const email = await takenBy(server, 'email', 'proven')
    const session = await guest(server)
    await put(server, { email }, session)
    const { is_anonymous, email: own } = await me(server, session)
    assert.deepEqual([is_anonymous, own], [true, ''])
  })

  test('with an unproven address of their own: that mailbox is asked alike', async () => {
    const server = await shared()
    for (const wanted of [free('email'), await takenBy(server, 'email', 'proven')]) {
      const session = await guest(server)
      const current = newAddress('current')
      await server.app.db
        .updateTable('users')
        .set({ email: current })
        .where('id', '=', session.user.id)
        .execute()
      assert.equal((await put(server, { email: wanted }, session)).statusCode, 200)
      await server.mail.waitFor(current)
      const resent = await post(server, '/resend', { type: 'email_change', email: current })
      assert.equal(resent.statusCode, 200)
      await idle(server)
      assert.equal(sentTo(server, current).length, 2)
    }
  })

  test('where addresses need no proof, taken ones are told, and only so often', async (t) => {
    const at = { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_SMS_AUTOCONFIRM: 'true' }
    const server = await buildWithSms(t, { env: { ...env, ...at } })
    for (const kind of kinds) {
      await isToldSoOften(server, kind, await guest(server))
    }
  })
})

suite('waits', () => {
  const shared = sharedSmsServer({ env: { ...env, ...waiting } })

  for (const kind of kinds) {
    const over = [429, kind === 'email' ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit']

    test(`${kind}: between two questions of an anonymous person, whoever has it`, async () => {
      const server = await shared()
      for (const address of [free(kind), await takenBy(server, kind, 'proven')]) {
        const session = await guest(server)
        assert.equal((await put(server, { [kind]: address }, session)).statusCode, 200)
        assert.deepEqual(outcomeOf(await put(server, { [kind]: free(kind) }, session)), over)
        const other = await guest(server)
        assert.deepEqual(outcomeOf(await put(server, { [kind]: address }, other)), over)
      }
    })

    test(`${kind}: between two questions of a registered person, also after a refusal`, async () => {
      const server = await shared()
      const session = await registered(server)
      const taken = await takenBy(server, kind, 'proven')
      const refused = outcomeOf(await put(server, { [kind]: taken }, session))
      assert.deepEqual(refused, [422, `${kind}_exists`])
      const other = await takenBy(server, kind, 'proven')
      assert.deepEqual(outcomeOf(await put(server, { [kind]: other }, session)), over)
    })
  }
})

suite('a registered person who asks for an address', () => {
  const shared = sharedSmsServer({ env })

  for (const kind of kinds) {
    test(`${kind} of somebody: is told, and only so often`, async () => {
      const server = await shared()
      await isToldSoOften(server, kind, await registered(server))
    })
  }
})

/** After ten taken ones, whatever is asked for has to wait; somebody else does not. */
async function isToldSoOften(server: PhoneServer, kind: Kind, session: Session): Promise<void> {
  const taken = await takenBy(server, kind, 'proven')
  const outcomes = []
  for (let asked = 0; asked < 10; asked++) {
    outcomes.push(outcomeOf(await put(server, { [kind]: taken }, session)))
  }
  assert.deepEqual(outcomes, Array(10).fill([422, `${kind}_exists`]))
  for (const address of [taken, free(kind)]) {
    const answer = await put(server, { [kind]: address }, session)
    assert.deepEqual(outcomeOf(answer), [429, 'over_request_rate_limit'])
  }
  const other = await put(server, { [kind]: taken }, await registered(server))
  assert.deepEqual(outcomeOf(other), [422, `${kind}_exists`])
}

function sentTo({ mail, sms }: PhoneServer, address: string): unknown[] {
  const mails = mail.messages.filter(({ to }) => to === address)
  return [...mails, ...sms.messages.filter(({ to }) => to.endsWith(`+${address}`))]
}

/** What is kept and what is not differ by how their savepoint ends. */
const unsaved = (text: string) => text.replace(/^(release|rollback to) savepoint/, 'end of')
