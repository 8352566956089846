/** Requests that sign-up and verification reject. */
import { email, password, type WrongInputs } from './invalid-request.ts'

const signup = (body: object) => ({ url: '/signup', body })
const verify = (body: object) => ({ url: '/verify', body })
const challenge = 'x'.repeat(43)
const invalid = (message: string): [400, 'validation_failed', string] => [
  400,
  'validation_failed',
  message,
]
const pkce = invalid('PKCE flow requires code_challenge_method and code_challenge')
const pkceLength = invalid('code challenge has to be between 43 and 128 characters')
const badEmail = invalid('Unable to validate email address: invalid format')
const wrongCode: [403, string, string] = [403, 'otp_expired', 'Token has expired or is invalid']
const wrongLink: [403, string, string] = [
  403,
  'otp_expired',
  'Email link is invalid or has expired',
]

export const signUps: WrongInputs = {
  'an empty body': { ...signup({}), answer: [422, 'anonymous_provider_disabled'] },
  'no password': { ...signup({ email }), answer: invalid('Signup requires a valid password') },
  'an empty password': {
    ...signup({ email, password: '' }),
    answer: invalid('Signup requires a valid password'),
  },
  'a short password': {
    // Six UTF-16 code units and five characters.
    ...signup({ email, password: 'five🖐' }),
    answer: [422, 'weak_password', 'Password should be at least 6 characters.'],
  },
  'a short password and a malformed email': {
    ...signup({ email: 'x', password: 'short' }),
    answer: [422, 'weak_password', 'Password should be at least 6 characters.'],
  },
  'a short password, an email and a phone': {
    ...signup({ email: 'x', phone: 'x', password: 'short' }),
    answer: [422, 'weak_password', 'Password should be at least 6 characters.'],
  },
  'a change to a malformed email and a short password': {
    url: '/user',
    method: 'PUT',
    signedIn: true,
    body: { email: 'x', password: 'short' },
    answer: badEmail,
  },
  'a change to a short password and a phone when phones are disabled': {
    url: '/user',
    method: 'PUT',
    signedIn: true,
    body: { phone: '4915112345678', password: 'short' },
    answer: [422, 'weak_password', 'Password should be at least 6 characters.'],
  },
  'a password that is too long': {
    // 513 characters.
    ...signup({ email, password: 'é'.repeat(513) }),
    answer: [400, 'validation_failed', /^Password cannot be longer than 1024 bytes/],
  },
  'an email and a phone': {
    ...signup({ email, phone: '+4915112345678', password }),
    answer: invalid('Only an email address or phone number should be provided on signup.'),
  },
  'a challenge without its method': {
    ...signup({ email, password, code_challenge: challenge }),
    answer: pkce,
  },
  'a method without its challenge': {
    ...signup({ email, password, code_challenge_method: 's256' }),
    answer: pkce,
  },
  'a challenge that is too short': {
    ...signup({ email, password, code_challenge: 'x', code_challenge_method: 's256' }),
    answer: pkceLength,
  },
  'a challenge that is too long': {
    ...signup({ email, password, code_challenge: 'x'.repeat(129), code_challenge_method: 's256' }),
    answer: pkceLength,
  },
  'an unknown challenge method': {
    ...signup({ email, password, code_challenge: challenge, code_challenge_method: 's512' }),
    answer: [400, 'validation_failed'],
  },
  'a challenge with invalid characters': {
    ...signup({
      email,
      password,
      code_challenge: `${challenge}+`,
      code_challenge_method: 's256',
    }),
    answer: [400, 'validation_failed'],
  },
  'an email without @': { ...signup({ email: 'someone', password }), answer: badEmail },
  'an email with two @': { ...signup({ email: 'a@b@example.com', password }), answer: badEmail },
  'an email with a blank': {
    ...signup({ email: 'some body@example.com', password }),
    answer: badEmail,
  },
  'an email with a line break': {
    ...signup({ email: 'a@example.com\r\nBcc: b@example.com', password }),
    answer: badEmail,
  },
  'an email with a label that ends in a hyphen': {
    ...signup({ email: 'a@example-.com', password }),
    answer: badEmail,
  },
  'an email that is too long': {
    ...signup({ email: `${'x'.repeat(250)}@example.com`, password }),
    answer: invalid('An email address is too long'),
  },
  'a blank email': {
    ...signup({ email: '  ', password }),
    answer: invalid('An email address is required'),
  },
  'a phone when phones are disabled': {
    ...signup({ phone: '+4915112345678', password }),
    answer: [
      400,
      'phone_provider_disabled',
      'Phone signups are disabled: set AUTH_EXTERNAL_PHONE_ENABLED=true',
    ],
  },
}

export const verifications: WrongInputs = {
  'no type': {
    ...verify({ token: '123456', email }),
    answer: invalid('Verify requires a verification type'),
  },
  'no token': {
    ...verify({ type: 'signup', email }),
    answer: invalid('Verify requires either a token or a token hash'),
  },
  'a token and a token hash': {
    ...verify({ type: 'signup', token: '123456', token_hash: 'x' }),
    answer: invalid('Verify requires either a token or a token hash'),
  },
  'a token hash with an email': {
    ...verify({ type: 'signup', token_hash: 'x', email }),
    answer: invalid('Only the token_hash and type should be provided'),
  },
  'a code without email and phone': {
    ...verify({ type: 'signup', token: '123456' }),
    answer: [400, 'validation_failed'],
  },
  'a code with email and phone': {
    ...verify({ type: 'signup', token: '123456', email, phone: '4915112345678' }),
    answer: [400, 'validation_failed'],
  },
  'a token hash of an unknown type': {
    ...verify({ type: 'zz', token_hash: 'x' }),
    answer: invalid('Unsupported verification type'),
  },
  'a token hash of a type named like an Object property': {
    ...verify({ type: 'constructor', token_hash: 'x' }),
    answer: invalid('Unsupported verification type'),
  },
  'a code of an unknown type': {
    ...verify({ type: 'zz', token: '123456', email }),
    answer: wrongCode,
  },
  'a code of a type named like an Object property': {
    ...verify({ type: 'constructor', token: '123456', email }),
    answer: wrongCode,
  },
  'an invalid email': {
    ...verify({ type: 'signup', token: '123456', email: 'x' }),
    answer: [422, 'validation_failed'],
  },
  'an invalid phone number': {
    ...verify({ type: 'sms', token: '123456', phone: 'x' }),
    answer: invalid('Invalid phone number format (E.164 required)'),
  },
  'a wrong code': { ...verify({ type: 'signup', token: '123456', email }), answer: wrongCode },
  'a wrong token hash': { ...verify({ type: 'signup', token_hash: 'x' }), answer: wrongLink },
  'a link without token': {
    url: '/verify?type=signup',
    method: 'GET',
    answer: invalid('Verify requires a token or a token hash'),
  },
  'a link without type': {
    url: '/verify?token=x',
    method: 'GET',
    answer: invalid('Verify requires a verification type'),
  },
}
