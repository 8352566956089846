import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { SessionRecord } from '../../../../db/sessions/sessions.ts'
import { accessTokenClaims } from '../../../../plugins/security/jwt/access-token-claims.ts'
import type { ClaimsSource } from '../../../../plugins/security/jwt/claims-source.ts'

const userId = '0193f2c4-7a31-7000-8000-0123456789ab'
const hour = 3600

suite('access token claims', () => {
  const now = new Date('2026-03-01T12:00:00.900Z')
  const iat = 1772366400

  test('contain each claim, empty when unset', () => {
    assert.deepEqual(accessTokenClaims(source()), {
      iss: 'https://auth.example.com',
      sub: userId,
      aud: 'authenticated',
      role: 'authenticated',
      iat,
      exp: iat + hour,
      email: '',
      phone: '',
      app_metadata: {},
      user_metadata: {},
      aal: 'aal1',
      amr: [],
      session_id: 'a-session',
      is_anonymous: true,
    })
  })

  test('use AUTH_JWT_ISSUER as issuer', () => {
    const { config } = source()
    const issued = accessTokenClaims({
      ...source(),
      config: { ...config, AUTH_JWT_ISSUER: 'https://issuer.example' },
    })
    assert.equal(issued.iss, 'https://issuer.example')
  })

  const levels = [
    [null, 'aal1'],
    ['aal1', 'aal1'],
    ['aal2', 'aal2'],
    ['aal3', 'aal2'],
  ] as const
  for (const [aal, level] of levels) {
    test(`map a session stored as ${aal} to ${level} for any authentication method`, () => {
      const { session } = source()
      const amr = [{ method: 'totp', timestamp: 100 }]
      const issued = accessTokenClaims({ ...source(), session: { ...session, aal }, amr })
      assert.equal(issued.aal, level)
    })
  }

  test('list amr newest first', () => {
    const amr = ['password', 'totp'].map((method, index) => ({ method, timestamp: 100 + index }))
    const issued = accessTokenClaims({ ...source(), amr })
    assert.deepEqual(
      issued.amr.map(({ method }) => method),
      ['totp', 'password'],
    )
  })

  test('limit the lifetime of a session that requires a factor', () => {
    const { user, session, config } = source()
    const factor = { ...someFactor, status: 'verified' as const }
    const owing = {
      ...source(),
      user: { ...user, factors: [factor] },
      session: { ...session, session_created_at: new Date(now.getTime() - 50_000) },
      config: { ...config, AUTH_SESSIONS_ALLOW_LOW_AAL: 60 },
    }
    assert.equal(accessTokenClaims(owing).exp, iat + 10)
    const steppedUp = { ...owing.session, aal: 'aal2' as const }
    assert.equal(accessTokenClaims({ ...owing, session: steppedUp }).exp, iat + hour)
    const unverified = { ...user, factors: [someFactor] }
    assert.equal(accessTokenClaims({ ...owing, user: unverified }).exp, iat + hour)
  })

  function source(): ClaimsSource {
    return {
      user: {
        id: userId,
        aud: 'authenticated',
        role: 'authenticated',
        email: null,
        phone: null,
        raw_app_meta_data: null,
        raw_user_meta_data: null,
        is_anonymous: true,
        factors: [],
      },
      session: { session_id: 'a-session', session_created_at: now, aal: 'aal1' },
      amr: [],
      config: {
        AUTH_API_EXTERNAL_URL: 'https://auth.example.com',
        AUTH_JWT_ALLOWED_AUDIENCES: [],
        AUTH_JWT_AUD: 'authenticated',
        AUTH_JWT_EXP: hour,
        AUTH_JWT_ISSUER: undefined,
        AUTH_ORGANIZATIONS_CLAIMS: [],
        AUTH_SESSIONS_ALLOW_LOW_AAL: undefined,
        AUTH_SESSIONS_INACTIVITY_TIMEOUT: undefined,
        AUTH_SESSIONS_TIMEBOX: undefined,
        AUTH_USERNAMES_ENABLED: false,
      },
      now,
    }
  }
})

const someFactor: SessionRecord['factors'][number] = {
  id: 'a-factor',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  status: 'unverified',
  friendly_name: null,
  factor_type: 'totp',
  phone: null,
  last_challenged_at: null,
  web_authn_aaguid: null,
}
