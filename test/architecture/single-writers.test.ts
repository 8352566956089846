/** Single writers: the queries that create users and sessions, confirm addresses or count attempts have one caller each. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

interface SingleWriter {
  /** Files that may import the functions; each of them does. */
  only: string[]
  /** By file below db/. */
  functions: Record<string, string[]>
}

const writers: Record<string, SingleWriter> = {
  'only users.createUser inserts a user': {
    only: ['modules/users/sign-up/create-user.ts'],
    functions: { 'db/users/insert-user.ts': ['insertUser'] },
  },
  'only users.verifyEmail confirms an email': {
    only: ['modules/users/confirm-email.ts'],
    functions: {
      'db/users/merge-user.ts': ['setEmailConfirmed'],
      'db/identities/identities.ts': ['verifyIdentityEmail'],
    },
  },
  'only users.verifyPhone confirms a phone number': {
    only: ['modules/users/confirm-phone.ts'],
    functions: { 'db/users/merge-user.ts': ['setPhoneConfirmed'] },
  },
  'only users.clearUnverifiedCredentials clears unverified credentials': {
    only: ['modules/users/sign-up/clear-unverified.ts'],
    functions: {
      'db/users/merge-user.ts': ['replaceUserMetadata'],
      'db/identities/identities.ts': ['deleteOtherIdentities', 'deleteOtherIdentitiesOfProvider'],
    },
  },
  'only users.storePendingSignUp stores a pending sign-up': {
    only: ['modules/users/sign-up/pending.ts'],
    functions: { 'db/users/pending-sign-ups.ts': ['upsertPendingSignUp'] },
  },
  'only users.remove deletes a user': {
    only: ['modules/users/admin/users.ts'],
    functions: {
      'db/users/update-user.ts': ['deleteUser'],
      'db/admin/soft-delete.ts': ['softDeleteUser'],
    },
  },
  'only an import inserts users in bulk': {
    only: ['modules/user-import/index.ts'],
    functions: { 'db/users/bulk.ts': ['insertBulkUsers'] },
  },
  'only sessions.createSessionWithUser inserts a user with a session': {
    only: ['modules/sessions/create-with-user.ts'],
    functions: { 'db/sessions/insert-session.ts': ['insertUserWithSession'] },
  },
  'only sessions.createSession inserts a session': {
    only: ['modules/sessions/create.ts'],
    functions: { 'db/sessions/insert-session.ts': ['insertSession'] },
  },
  'only sessions.revokeSession deletes one session': {
    // It is also deleted when its first token could not be issued.
    only: ['modules/sessions/create.ts', 'modules/sessions/revoke.ts'],
    functions: { 'db/sessions/sessions.ts': ['deleteSession'] },
  },
  'only sessions.revokeAllSessions deletes all sessions of a user': {
    only: ['modules/sessions/revoke.ts'],
    functions: { 'db/sessions/sessions.ts': ['deleteSessions'] },
  },
  'only the revocation of sessions deletes the flow states of a user': {
    only: ['modules/sessions/revoke.ts'],
    functions: { 'db/flows/flow-states.ts': ['deleteFlowStates', 'deleteIssuedFlowStates'] },
  },
  'only the password check rehashes a password': {
    only: ['modules/credentials/password.ts'],
    functions: { 'db/users/password-hashes.ts': ['renewPasswordHash'] },
  },
  'only the OAuth server creates OAuth clients': {
    only: ['modules/oauth-server/clients/manage.ts'],
    functions: {
      'db/oauth-server/clients.ts': ['insertClient', 'softDeleteClient', 'setClientSecret'],
    },
  },
  'only one file responds to authorization requests': {
    only: ['modules/oauth-server/requests/answer.ts'],
    functions: {
      'db/oauth-server/authorizations.ts': ['approveAuthorization', 'lockAuthorization'],
    },
  },
  'only responses to a request or a device store a consent': {
    only: ['modules/oauth-server/requests/answer.ts'],
    functions: { 'db/oauth-server/consents.ts': ['upsertConsent'] },
  },
  'only the exchange consumes an authorization code': {
    only: ['modules/oauth-server/tokens/exchange-code.ts'],
    functions: {
      'db/oauth-server/authorizations.ts': ['consumeAuthorization', 'lockAuthorizationByCode'],
    },
  },
  'only sessions.refresh rotates a refresh token': {
    only: ['modules/sessions/counter-token.ts'],
    functions: { 'db/sessions/rotate.ts': ['rotateCounterToken'] },
  },
  'only sessions.stepUp steps a session up to aal2': {
    only: ['modules/sessions/step-up.ts'],
    functions: { 'db/sessions/step-up.ts': ['stepUpSession', 'deleteSessionsBelowAal2'] },
  },
  'only factors/complete.ts completes a factor verification': {
    only: ['modules/factors/complete.ts'],
    functions: {
      'db/factors/factors.ts': [
        'verifyFactor',
        'advanceTotpCounter',
        'upsertCredential',
        'updateSignCount',
      ],
      'db/factors/challenges.ts': ['consumeChallenge'],
    },
  },
  'only otp inserts and consumes one-time tokens': {
    only: ['modules/otp/tokens.ts'],
    functions: { 'db/tokens/one-time-tokens.ts': ['upsertToken', 'consumeToken'] },
  },
  'only otp.throttleAttempt counts attempts': {
    only: ['modules/otp/limits/throttle.ts'],
    functions: {
      'db/limits/throttles.ts': [
        'countAttempt',
        'countSignIn',
        'uncountAttempt',
        'resetAttempts',
        'resetAllAttempts',
      ],
    },
  },
  'only passkeys/register.ts inserts a passkey': {
    only: ['modules/passkeys/register.ts'],
    functions: { 'db/passkeys/credentials.ts': ['insertPasskey'] },
  },
  'only passkeys/challenges.ts inserts and consumes passkey challenges': {
    only: ['modules/passkeys/sign-in.ts'],
    functions: {
      'db/passkeys/challenges.ts': [
        'insertPasskeyChallenge',
        'consumeAuthenticationChallenge',
        'consumeRegistrationChallenge',
      ],
    },
  },
  'only recovery code verification counts attempts and consumes codes': {
    only: ['modules/factors/recovery-codes/verify.ts'],
    functions: {
      'db/factors/recovery-codes.ts': [
        'reserveRecoveryAttempt',
        'releaseRecoveryAttempt',
        'consumeRecoveryCode',
      ],
    },
  },
  'only factors.generateRecoveryCodes and factors.regenerateRecoveryCodes create recovery codes': {
    only: ['modules/factors/recovery-codes/generate.ts'],
    functions: {
      'db/factors/recovery-codes.ts': ['insertRecoveryCodeSet', 'replaceRecoveryCodes'],
    },
  },
  'only organizations.members changes members': {
    only: ['modules/organizations/members.ts'],
    functions: {
      'db/organizations/members.ts': ['insertMember', 'updateMember', 'deleteMember'],
    },
  },
  'only otp reserves send quotas': {
    only: ['modules/otp/limits/send-quotas.ts'],
    functions: {
      'db/limits/send-quotas.ts': ['findQuotaWait', 'reserveSendQuotas', 'releaseSendQuotas'],
    },
  },
  'only otp reserves send intervals': {
    only: ['modules/otp/limits/send-limits.ts'],
    functions: { 'db/limits/send-limits.ts': ['reserveSendInterval'] },
  },
  'only flows.consumeState consumes an OAuth state': {
    only: ['modules/flows/oauth-state.ts'],
    functions: { 'db/flows/oauth-states.ts': ['findOauthFlow', 'consumeOauthState'] },
  },
  'only the event dispatcher assigns positions to events': {
    only: ['plugins/background/events/index.ts'],
    functions: {
      'db/events/events.ts': ['assignPositions'],
      'db/events/deliveries.ts': ['findDueDeliveries'],
    },
  },
  'only the delivery batch leases deliveries': {
    only: ['plugins/background/events/batch.ts'],
    functions: {
      'db/events/deliveries.ts': ['leaseDeliveries', 'recordAttempts'],
    },
  },
  'only events.record inserts events without another write': {
    only: ['plugins/background/events/record.ts'],
    functions: { 'db/events/outbox.ts': ['insertEvents'] },
  },
  'only audit inserts audit log entries': {
    only: ['modules/audit/entry.ts'],
    functions: { 'db/audit/audit-log-entries.ts': ['insertAuditEntry'] },
  },
}

/** Files that may write a confirmation time; null removes one and is not counted. */
const confirmationWriters = [
  // A new email or phone that users.verifyPhone or users.verifyEmail confirms at once.
  'modules/credentials/phone-change.ts',
  'modules/identities/link.ts',
  // New users.
  'modules/user-import/bulk-record.ts',
  'modules/users/sign-up/create-user.ts',
]

const product = sources(['{cli,routes,plugins,modules}/**/*.ts'])

suite('single writers', () => {
  for (const [name, { only, functions }] of Object.entries(writers)) {
    test(name, () => {
      for (const [file, names] of Object.entries(functions)) {
        for (const name of names) {
          assert.deepEqual(findImporters(file, name), only, `${name} of ${file}`)
        }
      }
    })
  }

  test('no other file writes a confirmation time', () => {
    const written = /\b(email|phone)_confirmed_at: (?!null\b)/
    const files = product.filter(({ path, text }) => !path.startsWith('cli/') && written.test(text))
    assert.deepEqual(files.map(named), confirmationWriters)
  })

  test('only users/lock.ts locks and loads a user', () => {
    const loaders = product.filter(({ text }) => /\blockUser\(.*\)\n.*\bfindUser\(/.test(text))
    assert.deepEqual(loaders.map(named), ['modules/users/lock.ts'])
  })

  test('each transaction of an admin endpoint repeats the authorization', () => {
    const count = (text: string, part: string) => text.split(part).length - 1
    // Signing keys change in a transaction of their own, which authorizes by a callback.
    const opened = (text: string) =>
      count(text, '.transaction()') + count(text, '): RecordKeyChange {')
    const unheld = product.filter(
      ({ path, text }) =>
        path.startsWith('routes/admin/') &&
        opened(text) !== count(text, 'bearerAuth.reauthorizeAdmin(trx, request, now'),
    )
    assert.deepEqual(unheld.map(named), [])
  })

  test('only the guards of user routes authenticate a token', () => {
    const readers = product.filter(({ text }) => /\b(bearerA|a)uth\.authenticate\(/.test(text))
    assert.deepEqual(readers.map(named), [])
    const exceptions = product.filter(({ text }) => text.includes('bearerAuth.authenticate'))
    assert.deepEqual(exceptions.map(named), [
      'routes/auth/token/index.ts',
      // Tokens of OAuth clients are accepted as well, also in a form.
      'routes/oauth/userinfo.ts',
    ])
  })

  test('each hook is called by one file', () => {
    const requested = {
      customizeAccessToken: 'modules/sessions/token-response.ts',
      beforeUserCreated: 'modules/users/sign-up/hooks.ts',
      afterUserCreated: 'modules/users/sign-up/hooks.ts',
      passwordVerificationAttempt: 'modules/credentials/password.ts',
      mfaVerificationAttempt: 'modules/factors/attempts.ts',
      sendEmail: 'plugins/messaging/mailer/hook-delivery.ts',
      sendSms: 'plugins/messaging/sms/index.ts',
    }
    for (const [hook, file] of Object.entries(requested)) {
      const called = new RegExp(`\\b${hook}(\\?\\.)?\\(`)
      const callers = product.filter(({ path, text }) => {
        const isHookItself = path.startsWith('plugins/outgoing/hooks')
        return !isHookItself && text.includes('hooks') && called.test(text)
      })
      assert.deepEqual(callers.map(named), [file], hook)
    }
  })

  test('only one file logs errors', () => {
    const loggers = product.filter(({ text }) => /\brequest\.log\.error\(/.test(text))
    assert.deepEqual(loggers.map(named), ['plugins/http/api-errors/index.ts'])
  })
})

function findImporters(file: string, name: string): string[] {
  return product.filter(({ values }) => values.has(`${file}: ${name}`)).map(named)
}

const named = ({ path }: Source) => path
