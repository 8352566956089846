/**
 * What a person signs in with: the password and the addresses, how each is changed, what may be asked to be sent to an
 * address (codes and links, also for an admin to deliver), and what a code or link does that is shown.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { claimEmailChange, startEmailChange } from './email-change.ts'
import { createPasswordSignIn } from './password.ts'
import { checkPasswordChange, putPassword } from './password-change.ts'
import { acceptPhoneChange, askPhoneChange, putPhone } from './phone-change.ts'
import { acceptSentReauthentication, sendReauthentication } from './reauthentication.ts'
import { generateLink } from './requests/admin-links.ts'
import { answerByEmail, askByEmail, emailTask } from './requests/email-requests.ts'
import { readMagicLink } from './requests/magic-link.ts'
import { answerRepeat, repeatSms, repeatTask } from './requests/repeat.ts'
import { acceptSignInCode, sendSignInCode } from './requests/sms-requests.ts'
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
  'encryption',
  'events',
  'flows',
  'hooks',
  'jobQueue',
  'languages',
  'log',
  'mailer',
  'otp',
  'passwords',
  'sessions',
  'users',
] as const

function createCredentials(house: House<Needs>) {
  const workers = bindSteps(house, { answerByEmail, answerRepeat })
  house.jobQueue.addTask(emailTask, workers.answerByEmail, { leaseSeconds: 120 })
  house.jobQueue.addTask(repeatTask, workers.answerRepeat)
  return {
    ...bindSteps(house, { claimEmailChange, startEmailChange }),
    ...bindSteps(house, { putPhone, askPhoneChange, acceptPhoneChange }),
    ...bindSteps(house, { sendReauthentication, acceptSentReauthentication }),
    ...bindSteps(house, { checkPasswordChange, putPassword, checkDeletion, checkDeletable }),
    ...bindSteps(house, { readMagicLink, askByEmail, repeatSms, generateLink }),
    ...bindSteps(house, { sendSignInCode, acceptSignInCode, spend, isLive, setFirstPassword }),
    halfDoneMessage,
    isType,
    phoneTokenOf,
    signInWithPassword: createPasswordSignIn(house),
  }
}

export default definePlugin({ name: 'credentials', needs, create: createCredentials })
