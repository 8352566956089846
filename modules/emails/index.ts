/** The emails of an account. Each function creates the link or code, records when it was sent and queues the email. */
export { sendEmailChangeEmails } from './email-change.ts'
export { checkRecipient, mayReceive, requireMail } from './email-policy.ts'
export { sendLinkEmail, sendUncountedLinkEmail } from './links.ts'
export { notifyUser } from './notifications.ts'
export { sendReauthenticationEmail } from './reauthentication.ts'
