/** Email delivery of a user, and resending an invitation. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { emailAfter, nextEmail } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { confirmedUser, newAddress } from '../../support/users.ts'

interface Emails {
  mails: { kind: string; status: string; response: string | null; locale: string }[]
}

suite('/admin/users/{user_id}/mails', () => {
  let server: Built
  const closing = endingOfSuite()

  before(async () => {
    const env = { AUTH_MAILER_NOTIFICATIONS_REFRESH_TOKEN_REUSED_ENABLED: 'true' }
    server = await build(closing, { env })
  })

  const invite = async (email: string) => {
    const send = () => asAdmin(server.app, 'POST', '/invite', { email })
    return linkIn(await emailAfter(server, email, send))
  }
  const findUserId = async (email: string) => {
    const { users } = await adminCall<{ users: { id: string; email: string }[] }>(
      server.app,
      'GET',
      '/admin/users',
    )
    return users.find((user) => user.email === email)?.id ?? ''
  }
  const listEmails = async (id: string) =>
    (await adminCall<Emails>(server.app, 'GET', `/admin/users/${id}/mails`)).mails

  async function settled(id: string, status: string): Promise<Emails['mails'][number] | undefined> {
    for (;;) {
      const [newest] = await listEmails(id)
      if (newest?.status === status) return newest
      await new Promise(setImmediate)
    }
  }

  test('lists emails with the response of the mail server', async () => {
    const email = newAddress()
    await invite(email)
    const id = await findUserId(email)

    const sent = await settled(id, 'sent')

    assert.equal(sent?.kind, 'invite')
    assert.equal(sent.locale, 'en')
    assert.match(sent.response ?? '', /^250/)
  })

  test('resends a pending invitation with a new link', async () => {
    const email = newAddress()
    const first = await invite(email)
    const id = await findUserId(email)
    const again = () => asAdmin(server.app, 'POST', `/admin/users/${id}/resend_invitation`)

    const second = linkIn(await emailAfter(server, email, again))

    assert.notEqual(second, first)
    assert.equal((await listEmails(id)).length, 2)
  })

  test('rejects resending for confirmed and unknown users', async () => {
    const { user } = await confirmedUser(server)
    const path = `/admin/users/${user.id}/resend_invitation`
    assert.deepEqual(statusAndCode(await asAdmin(server.app, 'POST', path)), [
      400,
      'validation_failed',
    ])
    const unknown = '/admin/users/00000000-0000-4000-8000-00000000dead/resend_invitation'
    assert.deepEqual(statusAndCode(await asAdmin(server.app, 'POST', unknown)), [
      404,
      'user_not_found',
    ])
  })

  test('reports a rejected recipient with the response of the mail server', async () => {
    server.mail.behave('permanent')
    const email = newAddress()
    await asAdmin(server.app, 'POST', '/invite', { email })
    const rejected = await settled(await findUserId(email), 'refused')
    server.mail.behave('accept')
    assert.match(rejected?.response ?? '', /550/)
  })

  test('notifies the user of refresh token reuse', async () => {
    const email = newAddress()
    const session = await confirmedUser(server, email)
    const once = await refresh(server.app, session.refresh_token)
    const { refresh_token: child }: { refresh_token: string } = once.json()
    await refresh(server.app, child)
    const since = server.mail.messages.length

    const reused = await refresh(server.app, session.refresh_token)

    assert.deepEqual(statusAndCode(reused), [400, 'refresh_token_already_used'])
    const { mail } = await nextEmail(server, email, since)
    assert.equal(mail.subject, 'A session of your account was ended')
  })
})
