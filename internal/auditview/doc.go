// Package auditview shows a person what was decided: records of the audit log in a line or
// in full, grants, and numbers about them. Everything is made safe before it is printed:
// records hold what models wrote.
package auditview
