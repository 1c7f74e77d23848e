// Package e2e tests a whole team: machines in network namespaces of their own, each with its state folder, its bridge
// and many gates; two replicas of assent serve behind TLS; PostgreSQL; people who vote with their keys.
//
// Its tests have the build tag teame2e and need root, for namespaces and small file systems. make team-e2e runs them short,
// and in full with ASSENT_ROUNDS=full.
package e2e
