/** One door each: what makes a person, opens a session, proves an address or counts a guess is called from one place. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

interface Door {
  /** Files that may import the functions; each of them does. */
  only: string[]
  /** By file below db/. */
  functions: Record<string, string[]>
}

const doors: Record<string, Door> = {
  'a person is inserted by users.create': {
    only: ['plugins/accounts/users/create.ts'],
    functions: { 'new-users.ts': ['insertUser'] },
  },
  'an email address is proven by users.proveEmail': {
    only: ['plugins/accounts/users/prove-email.ts'],
    functions: { 'user-edits.ts': ['confirmEmail'], 'identities.ts': ['verifyIdentityEmail'] },
  },
  'a phone number is proven by users.provePhone': {
    only: ['plugins/accounts/users/prove-phone.ts'],
    functions: { 'user-edits.ts': ['confirmPhone'] },
  },
  'what was never proven is cleared by users.dropUnproven': {
    only: ['plugins/accounts/users/drop-unproven.ts'],
    functions: {
      'user-edits.ts': ['replaceUserMetadata'],
      'identities.ts': ['deleteOtherIdentities', 'deleteIdentitiesBeside'],
    },
  },
  'what a second sign-up brought is kept by users.keepForProof': {
    only: ['plugins/accounts/users/pending-sign-up.ts'],
    functions: { 'pending-sign-ups.ts': ['putPendingSignUp'] },
  },
  'a person is deleted by users.remove': {
    only: ['plugins/accounts/users/admin-records.ts'],
    functions: { 'user-rows.ts': ['deleteUser'], 'users-admin.ts': ['softDeleteUser'] },
  },
  'people are imported by the command': {
    only: ['cli/users/batch.ts'],
    functions: { 'bulk-users.ts': ['insertBulkUsers'] },
  },
  'a person who signs in at once is inserted by sessions.openNewcomer': {
    only: ['plugins/accounts/sessions/newcomer.ts'],
    functions: { 'session-open.ts': ['insertNewcomer'] },
  },
  'a session is opened by sessions.open': {
    only: ['plugins/accounts/sessions/open.ts'],
    functions: { 'session-open.ts': ['insertSession'] },
  },
  'one session of a person ends by sessions.end': {
    // And taken back, when its first token could not be made.
    only: ['plugins/accounts/sessions/end.ts', 'plugins/accounts/sessions/open.ts'],
    functions: { 'sessions.ts': ['deleteSession'] },
  },
  'all sessions of a person end by sessions.endAll': {
    only: ['plugins/accounts/sessions/end.ts'],
    functions: { 'sessions.ts': ['deleteSessions'] },
  },
  'the flows of a person end with their sessions': {
    only: ['plugins/accounts/flows/end.ts'],
    functions: { 'flow-states.ts': ['deleteFlowStates', 'deleteAnsweredFlowStates'] },
  },
  'a hash is renewed where the password was proven': {
    only: ['plugins/accounts/credentials/password.ts'],
    functions: { 'user-edits.ts': ['renewPasswordHash'] },
  },
  'a session goes on by sessions.refresh': {
    only: ['plugins/accounts/sessions/counter-token.ts'],
    functions: { 'session-refresh.ts': ['advanceSession'] },
  },
  'a session is raised to aal2 by sessions.upgrade': {
    only: ['plugins/accounts/sessions/upgrade.ts'],
    functions: { 'session-upgrade.ts': ['raiseSession', 'deleteLowSessions'] },
  },
  'a second factor is proven by factors.accept': {
    only: ['plugins/accounts/factors/accept.ts'],
    functions: {
      'factors.ts': ['verifyFactor', 'takeStep'],
      'factor-credentials.ts': ['putCredential', 'advanceCredential'],
      'factor-challenges.ts': ['spendChallenge'],
    },
  },
  'a one-time token is made and spent by otp': {
    only: ['plugins/accounts/otp/tokens.ts'],
    functions: { 'one-time-tokens.ts': ['putToken', 'takeToken'] },
  },
  'a guess is counted by otp.gate': {
    only: ['plugins/accounts/otp/throttle.ts'],
    functions: {
      'throttles.ts': ['countGuess', 'countSignIn', 'uncountGuess', 'forgetGuesses'],
    },
  },
  'a passkey is added by webauthn.passkeys.register': {
    only: ['plugins/accounts/webauthn/passkeys/register.ts'],
    functions: { 'webauthn-credentials.ts': ['insertPasskey'] },
  },
  'a passkey challenge is made and spent by webauthn.passkeys': {
    only: ['plugins/accounts/webauthn/passkeys/challenges.ts'],
    functions: {
      'webauthn-challenges.ts': [
        ...['insertPasskeyChallenge', 'takeSignInChallenge', 'takeRegistrationChallenge'],
      ],
    },
  },
  'a recovery code is spent by factors.spendRecoveryCode': {
    only: ['plugins/accounts/factors/recovery-codes/spend.ts'],
    functions: { 'recovery-codes.ts': ['takeRecoveryCode'] },
  },
  'what is sent is counted by otp': {
    only: ['plugins/accounts/otp/send-limits.ts'],
    functions: { 'send-limits.ts': ['takeSendInterval', 'findQuotaWait', 'takeSendQuota'] },
  },
  'an OAuth state is spent by flows.claimOauth': {
    only: ['plugins/accounts/flows/oauth-state.ts'],
    functions: { 'oauth-flows.ts': ['findOauthFlow', 'takeOauthFlow'] },
  },
  'an event is given its position by the loop that tells webhooks': {
    only: ['plugins/events/dispatcher.ts'],
    functions: { 'events.ts': ['placeEvents'], 'webhook-deliveries.ts': ['lookForWork'] },
  },
  'an event is sent in a round of its webhook': {
    only: ['plugins/events/round.ts'],
    functions: {
      'webhook-deliveries.ts': ['claimDeliveries'],
      'webhook-outcomes.ts': ['recordAttempts'],
    },
  },
  'an event is written by events, or by the statement it tells of': {
    only: ['plugins/events/record.ts'],
    functions: { 'event-inbox.ts': ['insertEvents'] },
  },
  'an audit entry is written by audit': {
    only: ['plugins/accounts/audit/entry.ts'],
    functions: { 'audit-log-entries.ts': ['insertAuditEntry'] },
  },
}

/** Where a moment of proof is given to a row at all; a null there takes a proof away. */
const provers = [
  // For users.provePhone and users.proveEmail: an address that only now becomes the account's.
  'plugins/accounts/credentials/phone-change.ts',
  'plugins/accounts/identities/link.ts',
  // A person who is new.
  'plugins/accounts/users/create.ts',
]

const house = sources(['{cli,routes,plugins}/**/*.ts'])

suite('doors', () => {
  for (const [name, { only, functions }] of Object.entries(doors)) {
    test(name, () => {
      for (const [file, names] of Object.entries(functions)) {
        for (const wanted of names) {
          assert.deepEqual(importersOf(`db/${file}`, wanted), only, `${wanted} of db/${file}`)
        }
      }
    })
  }

  test('no other file writes when an address was proven', () => {
    const written = /\b(email|phone)_confirmed_at: (?!null\b)/
    const writers = house.filter(({ path, text }) => !path.startsWith('cli/') && written.test(text))
    assert.deepEqual(writers.map(named), provers)
  })

  test('a person is locked and loaded by users.lock', () => {
    const loaders = house.filter(({ text }) => /\blockUser\(.*\)\n.*\bfindUser\(/.test(text))
    assert.deepEqual(loaders.map(named), ['plugins/accounts/users/lock.ts'])
  })

  test('an admin is held by every transaction of the admin endpoints', () => {
    const count = (text: string, part: string) => text.split(part).length - 1
    // Signing keys are changed in a transaction of their own, of which the route is told.
    const opened = (text: string) =>
      count(text, '.transaction()') + count(text, '): RecordKeyChange {')
    const unheld = house.filter(
      ({ path, text }) =>
        path.startsWith('routes/admin/') &&
        opened(text) !== count(text, 'bearerAuth.holdAdmin(trx, request, now'),
    )
    assert.deepEqual(unheld.map(named), [])
  })

  test('the token of a person is read by the guard of their group, which knows what is for themselves', () => {
    const readers = house.filter(({ text }) => /\b(bearerA|a)uth\.authenticate\(/.test(text))
    assert.deepEqual(readers.map(named), [])
    const exceptions = house.filter(({ text }) => text.includes('bearerAuth.authenticate'))
    assert.deepEqual(exceptions.map(named), ['routes/auth/token/id-token.ts'])
  })

  test('a hook is asked at its own door', () => {
    const asked = {
      customizeAccessToken: 'plugins/accounts/sessions/to-session.ts',
      askForUser: 'plugins/accounts/users/approval.ts',
      tellOfUser: 'plugins/accounts/users/announce.ts',
      judgePassword: 'plugins/accounts/credentials/password-hook.ts',
      judgeFactor: 'plugins/accounts/factors/hook.ts',
      sendEmail: 'plugins/mailer/hook-delivery.ts',
      sendSms: 'plugins/sms/by-hook.ts',
    }
    for (const [hook, file] of Object.entries(asked)) {
      const called = new RegExp(`\\b${hook}(\\?\\.)?\\(`)
      const callers = house.filter(({ path, text }) => {
        const isHookItself = path.startsWith('plugins/hooks')
        return !isHookItself && text.includes('hooks') && called.test(text)
      })
      assert.deepEqual(callers.map(named), [file], hook)
    }
  })

  test('an error is logged by one file', () => {
    const loggers = house.filter(({ text }) => /\brequest\.log\.error\(/.test(text))
    assert.deepEqual(loggers.map(named), ['plugins/api-errors.ts'])
  })
})

function importersOf(file: string, name: string): string[] {
  return house
    .filter(({ imports }) =>
      imports.some((imported) => imported.file === file && imported.names.includes(name)),
    )
    .map(named)
}

const named = ({ path }: Source) => path
