/** What is sent because somebody asked for it: mails, text messages, and links that an admin delivers. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { generateLink } from './admin-links.ts'
import { answerByEmail, askByEmail, emailTask } from './email-requests.ts'
import { readMagicLink } from './magic-link.ts'
import { answerRepeat, repeatSms, repeatTask } from './repeat.ts'
import { acceptSignInCode, sendSignInCode } from './sms-requests.ts'

declare module 'fastify' {
  interface FastifyInstance {
    otpRequests: ReturnType<typeof createOtpRequests>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'audit',
  'config',
  'credentials',
  'db',
  'emails',
  'encryption',
  'flows',
  'jobQueue',
  'languages',
  'log',
  'otp',
  'users',
] as const

function createOtpRequests(house: House<Needs>) {
  const workers = bindSteps(house, { answerByEmail, answerRepeat })
  house.jobQueue.addTask(emailTask, workers.answerByEmail)
  house.jobQueue.addTask(repeatTask, workers.answerRepeat)
  return bindSteps(house, {
    readMagicLink,
    askByEmail,
    sendSignInCode,
    acceptSignInCode,
    repeatSms,
    generateLink,
  })
}

export default definePlugin({ name: 'otpRequests', needs, create: createOtpRequests })
