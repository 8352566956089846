/** Recovery code variables: defaults, ranges, and GoTrue’s names. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { issuesIn, read, wrongVariables } from './environment.ts'

const prefix = 'MFA_RECOVERY_CODES_'
const gotrue = {
  AUTH_JWT_SECRET: '',
  GOTRUE_JWT_SECRET: 'thirty-two bytes are the least here',
}

const flagsIn = (env: Record<string, string>) => {
  const { config } = read(env)
  return [
    config.AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED,
    config.AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED,
  ]
}

suite('recovery code variables', () => {
  test('default to ten codes of sixteen letters, locked for 15 minutes after five failures', () => {
    const { config } = read({})
    assert.deepEqual(flagsIn({}), [true, true])
    assert.equal(config.AUTH_MFA_RECOVERY_CODES_COUNT, 10)
    assert.equal(config.AUTH_MFA_RECOVERY_CODES_CODE_LENGTH, 16)
    assert.equal(config.AUTH_MFA_RECOVERY_CODES_MAX_VERIFY_ATTEMPTS, 5)
    assert.equal(config.AUTH_MFA_RECOVERY_CODES_LOCKOUT_DURATION, 900)
  })

  for (const [name, minimal, most, below, above] of [
    ['COUNT', '4', '16', '3', '17'],
    ['CODE_LENGTH', '13', '32', '12', '33'],
    ['MAX_VERIFY_ATTEMPTS', '3', '15', '2', '16'],
    ['LOCKOUT_DURATION', '1m', '24h', '59s', '24h1s'],
  ] as const) {
    test(`${name} accepts ${minimal} to ${most}`, () => {
      const variable = `AUTH_${prefix}${name}`
      for (const text of [minimal, most]) assert.deepEqual(wrongVariables({ [variable]: text }), [])
      for (const text of [below, above]) {
        assert.deepEqual(wrongVariables({ [variable]: text }), [variable])
      }
    })

    test(`GOTRUE_${prefix}${name} is validated only when recovery codes are enabled`, () => {
      const variable = `GOTRUE_${prefix}${name}`
      const { notices } = read({ ...gotrue, [variable]: below })
      assert.ok(notices.some((notice) => notice.startsWith(`${variable} is ignored`)))
      const on = { ...gotrue, [`GOTRUE_${prefix}VERIFY_ENABLED`]: 'true', [variable]: below }
      const [invalid] = issuesIn(on)
      assert.equal(invalid?.variable, variable)
    })
  }

  test('GoTrue’s names disable recovery codes by default', () => {
    assert.deepEqual(flagsIn(gotrue), [false, false])
    assert.deepEqual(flagsIn({ ...gotrue, [`GOTRUE_${prefix}ENROLL_ENABLED`]: 'true' }), [
      true,
      false,
    ])
    assert.deepEqual(flagsIn({ ...gotrue, [`AUTH_${prefix}VERIFY_ENABLED`]: 'true' }), [
      false,
      true,
    ])
  })
})
