/** Each notification is sent only when its flag is set. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { UserRecord } from '../../../db/users/users.ts'
import { notifyUser } from '../../../modules/emails/index.ts'
import type { Notification } from '../../../modules/emails/send.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedDatabase } from '../../support/processes/shared-database.ts'
import { type Built, build } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

const notifications: [flag: string, notification: Notification, subject: string][] = [
  ['PASSWORD_CHANGED', { kind: 'password_changed_notification' }, 'Your password was changed'],
  [
    'EMAIL_CHANGED',
    { kind: 'email_changed_notification', OldEmail: 'old@example.com' },
    'Your email address was changed',
  ],
  [
    'PHONE_CHANGED',
    { kind: 'phone_changed_notification', Phone: '15550101', OldPhone: '15550100' },
    'Your phone number was changed',
  ],
  [
    'IDENTITY_LINKED',
    { kind: 'identity_linked_notification', Provider: 'github' },
    'A new sign-in method was linked to your account',
  ],
  [
    'IDENTITY_UNLINKED',
    { kind: 'identity_unlinked_notification', Provider: 'github' },
    'A sign-in method was removed from your account',
  ],
  [
    'MFA_FACTOR_ENROLLED',
    { kind: 'mfa_factor_enrolled_notification', FactorType: 'totp' },
    'A new verification method was added to your account',
  ],
  [
    'MFA_FACTOR_UNENROLLED',
    { kind: 'mfa_factor_unenrolled_notification', FactorType: 'totp' },
    'A verification method was removed from your account',
  ],
  [
    'SECURITY_KEY_REFUSED',
    { kind: 'security_key_refused_notification' },
    'A security key of your account was rejected',
  ],
  [
    'RECOVERY_CODE_USED',
    { kind: 'recovery_code_used_notification', Remaining: '9' },
    'A recovery code of your account was used',
  ],
  [
    'PASSKEY_ADDED',
    { kind: 'passkey_added_notification', PasskeyName: 'Passkey' },
    'A passkey was added to your account',
  ],
  [
    'MFA_VERIFICATION_FAILED',
    { kind: 'mfa_verification_failed_notification' },
    'Failed verifications on your account',
  ],
  [
    'USERNAME_CHANGED',
    { kind: 'username_changed_notification', Username: 'ada' },
    'Your username was changed',
  ],
  [
    'APP_CONNECTED',
    { kind: 'app_connected_notification', ClientName: 'Grafana', Scopes: 'openid' },
    'An app was given access to your account',
  ],
  [
    'ADMIN_ROLE',
    { kind: 'admin_role_notification', Account: 'ada@example.org', Role: 'operator' },
    'A role on the server was given',
  ],
  [
    'ORGANIZATION_ROLE',
    {
      kind: 'organization_role_notification',
      Account: 'ada@example.org',
      OrganizationName: 'Acme',
      Role: 'admin',
    },
    'A role in Acme was given',
  ],
  [
    'SCIM_TOKEN',
    { kind: 'scim_token_notification', TokenName: 'Entra ID', ConnectionName: 'Acme' },
    'A SCIM token was issued',
  ],
  [
    'OAUTH_CLIENT',
    { kind: 'oauth_client_notification', ClientName: 'Grafana', Change: 'redirect_uris' },
    'A connected application was changed',
  ],
  [
    'SERVER_CHANGE',
    { kind: 'server_change_notification', Account: 'ada@example.org', Change: 'AUTH_SITE_URL' },
    'The sign-in settings were changed',
  ],
  ['ACCOUNT_DELETED', { kind: 'account_deleted_notification' }, 'Your account was deleted'],
  [
    'TOO_MANY_ATTEMPTS',
    { kind: 'too_many_attempts_notification' },
    'Too many failed attempts on your account',
  ],
]

suite('notification emails', () => {
  const database = sharedDatabase()
  const serverFor = async (t: TestContext, env: Record<string, string>) =>
    build(t, { env: { ...env, ...autoconfirm }, database: await database() })

  for (const [flag, , subject] of notifications) {
    test(`AUTH_MAILER_NOTIFICATIONS_${flag}_ENABLED sends only its notification`, async (t) => {
      const env = { [`AUTH_MAILER_NOTIFICATIONS_${flag}_ENABLED`]: 'true' }
      assert.deepEqual(await sentWith(await serverFor(t, env)), [subject])
    })
  }

  test('are not sent while they are disabled', async (t) => {
    assert.deepEqual(await sentWith(await serverFor(t, {})), [])
  })
})

/** The subjects received when each event happens. */
async function sentWith(server: Built) {
  const { app, mail } = server
  const { email } = await signUpUser(app)
  const users = app.db.selectFrom('users').selectAll().where('email', '=', email)
  const row = await users.executeTakeFirstOrThrow()
  const user: UserRecord = { ...row, identities: [], factors: [] }
  await app.db.transaction().execute(async (trx) => {
    for (const [, notification] of notifications) {
      await notifyUser(app, trx, user, notification, new Date())
    }
  })
  await waitForIdleQueue(server)
  return mail.messages.map((message) => message.mail.subject)
}
