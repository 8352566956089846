/** Admins: adding, changing and removing them, and the links that create one. */
export { createAdminLink, findLink, redeemLink } from './links.ts'
export { addAdmin, changeAdminRole, removeAdmin, requireRemainingAdminOwner } from './manage.ts'
