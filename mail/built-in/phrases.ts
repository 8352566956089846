/** Sentences that several mails share; templates as all of their wording. */

export const notMine = 'If this was not you, reset your password now and sign out everywhere.'
