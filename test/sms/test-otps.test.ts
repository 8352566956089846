import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createTestOtps } from '../../sms/test-otps.ts'

suite('test OTPs', () => {
  const codes = { '15550100200': '123456', '447700900123': '000000' }
  const validUntil = new Date('2030-01-01T00:00:00Z')
  const before = new Date('2029-12-31T23:59:59.999Z')

  test('are found by the normalized phone number', () => {
    const testOtp = createTestOtps({ codes, validUntil: undefined })
    assert.equal(testOtp('15550100200', before), '123456')
    assert.equal(testOtp('447700900123', before), '000000')
    assert.equal(testOtp('15550100201', before), undefined)
    assert.equal(testOtp('constructor', before), undefined)
  })

  test('expire at the configured time', () => {
    const testOtp = createTestOtps({ codes, validUntil })
    assert.equal(testOtp('15550100200', before), '123456')
    assert.equal(testOtp('15550100200', validUntil), undefined)
  })
})
