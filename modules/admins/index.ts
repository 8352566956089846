/** Admins: adding, changing and removing them, and the links that create one. */
export {
  addAdmin,
  changeAdminRole,
  createAdminLink,
  findLink,
  redeemLink,
  removeAdmin,
  requireRemainingAdminOwner,
  voidSentLinks,
} from './manage.ts'
