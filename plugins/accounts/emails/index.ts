/** What is mailed to whom: each mail makes its link or code, notes when it was sent and goes into the outbox. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { sendEmailChange } from './email-change.ts'
import { checkRecipient, emailPolicy, mayReceive } from './email-policy.ts'
import { sendLink, sendUncountedLink } from './links.ts'
import { notify } from './notifications.ts'
import { sendReauthentication } from './reauthentication.ts'

declare module 'fastify' {
  interface FastifyInstance {
    emails: ReturnType<typeof createEmails>
  }
}

function createEmails({
  config,
  flows,
  mailer,
  otp,
}: House<'config' | 'flows' | 'mailer' | 'otp'>) {
  const house = { config, flows, mailer, otp, policy: emailPolicy({ config, mailer }) }
  return {
    ...bindSteps(house.policy, { checkRecipient, mayReceive }),
    ...bindSteps(house, { sendLink, sendUncountedLink }),
    ...bindSteps(house, { sendEmailChange, sendReauthentication, notify }),
  }
}

export default definePlugin({
  name: 'emails',
  needs: ['config', 'flows', 'mailer', 'otp'],
  create: createEmails,
})
