/** The emails of an account. Each function creates the link or code, records when it was sent and queues the email. */
export { sendEmailChangeEmails } from './email-change.ts'
export { checkRecipient, mayReceive, requireMail } from './email-policy.ts'
export {
  notifyUser,
  sendLinkEmail,
  sendReauthenticationEmail,
  sendUncountedLinkEmail,
} from './send.ts'
