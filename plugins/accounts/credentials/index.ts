/** What a person signs in with: the password, the addresses, the codes that prove them, and how each is changed. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import {
  agreeToEmail,
  checkEmailFree,
  claimEmailChange,
  repeatEmailChange,
  startEmailChange,
} from './email-change.ts'
import { createPasswordSignIn } from './password.ts'
import { checkPasswordChange, putPassword } from './password-change.ts'
import { acceptPhoneChange, agreeToPhone, askPhoneChange, putPhone } from './phone-change.ts'
import { acceptSentReauthentication, sendReauthentication } from './reauthentication.ts'
import { checkDeletable, checkDeletion } from './self-deletion.ts'
import {
  halfDoneMessage,
  isLive,
  isType,
  phoneTokenOf,
  setFirstPassword,
  spend,
} from './verification.ts'

declare module 'fastify' {
  interface FastifyInstance {
    credentials: ReturnType<typeof createCredentials>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'audit',
  'bearerAuth',
  'config',
  'db',
  'emails',
  'events',
  'hooks',
  'mailer',
  'otp',
  'passwords',
  'sessions',
  'users',
] as const

const createCredentials = (house: House<Needs>) => ({
  ...bindSteps(house, {
    claimEmailChange,
    startEmailChange,
    repeatEmailChange,
    agreeToEmail,
    putPhone,
    askPhoneChange,
    acceptPhoneChange,
    agreeToPhone,
    sendReauthentication,
    acceptSentReauthentication,
    checkPasswordChange,
    putPassword,
    checkDeletion,
    checkDeletable,
    spend,
    isLive,
  }),
  checkEmailFree,
  halfDoneMessage,
  isType,
  phoneTokenOf,
  setFirstPassword,
  signInWithPassword: createPasswordSignIn(house),
})

export default definePlugin({ name: 'credentials', needs, create: createCredentials })
