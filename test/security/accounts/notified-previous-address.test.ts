/** An attacker who changes the email does not hide later changes from its previous owner. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, everyFactor, stepUp } from '../../support/factors/factors.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { changeUser, verify } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { bodyOf200, confirmedUser, newAddress } from '../../support/users.ts'

const env = {
  ...everyFactor,
  AUTH_MAILER_AUTOCONFIRM: 'false',
  AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
  AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
}

suite('notifications after an email change', () => {
  test('are sent to the previous email as well for a day', async (t) => {
    const server = await build(t, { env })
    const owner = await confirmedUser(server)
    const [previous, email] = [owner.user.email ?? '', newAddress('changed')]
    bodyOf200(await changeUser(server.app, owner.access_token, { email }))
    const token = codeIn(await nextEmail(server, email))
    bodyOf200(await verify(server.app, { type: 'email_change', email, token }))
    await stepUp(server.app, owner, await addTotp(server.app, owner))
    const subject = /new verification method/i
    for (const address of [previous, email]) {
      const reported = await server.mail.waitFor(
        ({ to, mail }) => to === address && subject.test(mail.subject ?? ''),
      )
      assert.equal(reported.to, address)
    }
  })
})
